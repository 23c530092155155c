"""From a submission to its points: run each answer in the sandbox, and judge what was observed there.

In reading order: ``answer_similarity`` compares texts, ``run_answer`` runs an answer in the sandbox, ``judge_answer``
judges what was observed there, and ``mistake_locations`` finds where it goes wrong; ``assess`` does all of it for the
exercises of a notebook and returns ``graded_results``. A ``worker`` is a process that does so, and ``dask_workers`` are
those on other machines. ``student_records`` stores what is finished, and ``progress_bar`` shows how far the grading is.
Uses ``rules`` and ``locating``.
"""
