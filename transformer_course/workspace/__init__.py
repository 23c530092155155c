"""Manage the learner's folder: working copies of the lessons, saved parts and progress.

In reading order: ``working_copies`` copies the lessons, and ``exercise_stubs`` returns the published stub of an
exercise. ``saved_parts`` saves answers that passed in a ``parts_file``, in the form that ``standalone_source`` returns.
``progress`` records passes, predictions and reviews. The package uses ``running``.
"""
