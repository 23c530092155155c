"""All that runs beside a learner's code. It knows no answers: no reference, mistake or expected value.

In reading order: ``case`` is one call, as ``plain_data``; ``stand_in_models`` are arguments that are models;
``parts`` are the pieces a lesson works with. ``observe`` calls an attempt under ``isolation`` and a ``time_limit``, and
returns an ``observation`` of what it showed, with a ``crash_report``, what ``introspect`` finds and, where a case asks
for them, ``tensor_sizes``. ``trace`` calls it with every expression watched, and ``trace_data`` is how that crosses to
another process. ``dependencies`` are the names that code needs; ``find_answer`` and ``answer_job`` observe what was
handed in, and ``trace_job`` traces it. Uses the library.
"""
