"""Run a learner's code and record what it does. No reference, mistake or expected value is imported here.

In reading order: ``case`` describes one call as ``plain_data``; ``stand_in_models`` are small models passed as
arguments, and ``served_models`` are models that run in another process. ``parts`` provides working functions and
classes to a lesson. ``record`` calls an attempt under ``isolation`` and a ``time_limit`` and records the results, with
a ``crash_report``, the findings of ``introspect`` and, if a case requires them, ``tensor_sizes`` and ``called_names``.
``observe`` turns a record into an ``observation``; for submissions, it runs on the trusted side. ``trace`` records the
value of every expression, or runs the code with one of the ``code_edits`` that ``edit_candidates`` lists, and
``trace_data`` sends traces to another process.

``dependencies`` finds the names that code needs, and ``ipython_syntax`` turns a cell into Python. ``find_answer`` finds
the answers in a submitted notebook, ``answer_job`` observes one of them, with ``stand_in_ipython`` for its magics, and
``trace_job`` traces it. Uses the library.
"""
