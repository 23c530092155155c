"""Grade a submission: run each answer in the sandbox, and judge the observations.

In reading order: ``answer_similarity`` compares texts; ``run_answer`` runs an answer in the sandbox; ``judge_answer``
judges the observations; ``mistake_locations`` finds the wrong expression; ``assess`` combines these for all exercises
of a notebook and returns ``graded_results``. A ``worker`` is a process that does this, and ``dask_workers`` do it on
other machines. ``student_records`` stores finished results, and ``progress_bar`` shows the progress. Uses ``rules`` and
``locating``.
"""
