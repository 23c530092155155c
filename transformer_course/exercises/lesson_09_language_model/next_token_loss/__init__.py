"""The exercise ``next_token_loss``: its cases, its reference, its mistakes."""
