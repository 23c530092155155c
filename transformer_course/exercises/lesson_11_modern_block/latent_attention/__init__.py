"""The exercise ``latent_attention``: its cases, its reference, its mistakes."""
