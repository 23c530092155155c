"""The exercise ``dpo_loss``: its cases, its reference, its mistakes."""
