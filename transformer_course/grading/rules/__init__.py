"""What the instructor sets for a class, and the settings of a grading.

In reading order: ``own_exercises``, ``late_policy`` and ``overrides``; ``class_rules`` keeps them all in the folder of
results. ``settings`` records how the results were obtained. Uses ``incoming`` and ``sandbox``.
"""
