"""Run a learner's code and record what it does. No reference, mistake or expected value is imported here.

In reading order: ``case`` describes one call as ``plain_data``. ``stand_in_models`` are small models passed as
arguments, and ``served_models`` are models that run in another process. ``parts`` provides working functions and
classes to a lesson. ``record`` calls an attempt under ``isolation`` and a ``time_limit`` and records the results, with
a ``crash_report``, the findings of ``introspect`` and, if a case requires it, ``tensor_sizes`` and ``called_names``.
``observe`` turns a record into an ``observation``. For submissions, it runs on the trusted side.

``instrumentation`` inserts calls into an attempt's code, and a ``trace_recorder`` receives the calls and records the
value of every expression. ``trace`` runs the instrumented code, or the code with one of the ``code_edits``.
``edit_candidates`` lists these edits, including ``call_edits`` and ``loop_edits``, each as a ``tree_edit``, and
``edit_guards`` keep edited code from running forever or crashing the process. ``trace_data`` serializes traces for
another process.

``dependencies`` finds the names that code needs, and ``ipython_syntax`` turns a cell into Python. ``find_answer`` finds
the answers in a submitted notebook, ``answer_job`` records calls to one answer, with ``stand_in_ipython`` for its
magics, and ``trace_job`` traces an answer. Uses the library.
"""
