"""The exercise ``exact_reward``: its cases, its reference, its mistakes."""
