"""The learner's folder.

In reading order: ``lessons`` are the working copies; ``saved_parts`` is what has passed, as ``standalone_source``;
``training_monitor`` is the live view of a training run. Uses ``running`` and the library's plots.
"""
