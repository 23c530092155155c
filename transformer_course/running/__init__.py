"""All that runs beside a learner's code. It knows no answers: no reference, mistake or expected value.

In reading order: ``case`` is one call, as ``plain_data``; ``stand_in_models`` are arguments that are models;
``served_models`` are those of them that answer from another process; ``parts`` are the pieces a lesson works with.
``record`` calls an attempt under ``isolation`` and a ``time_limit``, and writes down what came of it, with a
``crash_report``, what ``introspect`` finds and, where a case asks for them, ``tensor_sizes`` and ``called_names``.
``observe`` makes an ``observation`` of that; of what was handed in, on the trusted side. ``trace`` calls it with every
expression watched, and ``trace_data`` is how that crosses to another process. ``dependencies`` are the names that code
needs, and ``ipython_syntax`` turns a cell into Python. ``find_answer`` finds the answers in a submitted notebook,
``answer_job`` observes one, with ``stand_in_ipython`` for its magics, and ``trace_job`` traces it. Uses the library.
"""
