"""Hostile and unlucky submissions, with the points that each of them should get.

There is one module for each class of submissions. ``run`` grades all of them in one sandbox as the current user, and
``test_hostile_submissions`` starts ``run`` as root, as an unprivileged user, and as an unprivileged user without
namespaces.
"""
