"""Hostile and unlucky submissions, and what each deserves.

A module for each class of them; ``run`` grades them in one sandbox, as whoever starts it, and
``test_hostile_submissions`` starts it as root, as an ordinary user, and as one without namespaces.
"""
