"""The instructor's rules for a class, and the settings of a grading run.

In reading order: ``own_exercises``, ``late_policy`` and ``overrides`` define the rules; ``class_rules`` saves them in
the results folder; ``settings`` records how the results were obtained. Uses ``incoming`` and ``sandbox``.
"""
