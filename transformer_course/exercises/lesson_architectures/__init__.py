"""The lesson on architectures: recent changes, up to 2026."""

EXERCISES = (
    "latent_attention",
    "gated_delta_rule",
    "route",
    "sparse_attention",
)
