"""The learner's folder.

In reading order: ``working_copies`` are the learner's copies of the lessons; ``saved_parts`` is what has passed, as
``standalone_source``; ``training_monitor`` is the live view of a training run. Uses ``running`` and the library's
plots.
"""
