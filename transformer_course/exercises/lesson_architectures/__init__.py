"""The lesson on architectures: what changed until 2026."""

EXERCISES = (
    "latent_attention",
    "gated_delta_rule",
    "route",
    "sparse_attention",
)
