"""Grade a submission by running each answer in the sandbox and judging the observations.

In reading order: ``answer_similarity`` compares texts; ``run_answer`` runs an answer in the sandbox; ``judge_answer``
judges the observations; ``mistake_locations`` finds the wrong expression; ``assess`` does all of this for each exercise
in a notebook and returns ``graded_results``. A ``worker`` is a process that grades, and ``dask_workers`` grades on
other machines. ``student_records`` stores finished results, and ``progress_bar`` shows the progress. Uses ``rules`` and
``locating``.
"""
