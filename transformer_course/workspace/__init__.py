"""The learner's folder.

In reading order: ``working_copies`` are the learner's copies of the lessons, and ``exercise_stubs`` the cells that
exercises start from; ``saved_parts`` is what has passed, as ``standalone_source`` in a ``parts_file``, and ``progress``
the record of when. Uses ``running``.
"""
