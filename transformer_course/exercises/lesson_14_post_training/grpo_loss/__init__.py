"""The exercise ``grpo_loss``: its cases, its reference, its mistakes."""
