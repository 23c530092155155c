"""Hostile and unlucky submissions, each with the points that it should get.

Each module defines one class of submissions. ``run`` grades all submissions in one sandbox as the current user.
``test_hostile_submissions`` starts ``run`` as root, as an unprivileged user, and as an unprivileged user without
namespaces.
"""
