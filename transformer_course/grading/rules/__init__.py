"""The instructor's rules for a class, and the settings of a grading run.

In reading order: ``own_exercises``, ``late_policy`` and ``overrides`` define the rules; ``class_rules`` saves them in
the results folder; ``settings`` records the settings of a run. Uses ``incoming`` and ``sandbox``.
"""
