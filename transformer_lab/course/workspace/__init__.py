"""The learner's folder.

``lessons`` are the working copies, ``saved_parts`` what has passed, as ``standalone_source``; ``training_monitor`` is
the live view of a training run. Uses ``running`` and the library's plots.
"""
