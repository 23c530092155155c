"""Lesson 02: why attention divides by √d_k."""

EXERCISES = (
    "score_variance",
    "scaled_dot_product_attention",
    "softmax_jacobian",
    "additive_scores",
    "cosine_attention",
)
