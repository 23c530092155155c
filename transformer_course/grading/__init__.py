"""The grader: submitted notebooks in, gradebook and feedback out.

In reading order. What comes in: ``submitted_files`` finds files in folders and zips, ``download_names`` tells whose
they are, ``written_answers`` and ``submissions`` read them, all of it as ``printable_text``. What is done with it:
``answer_similarity`` compares texts, ``run_answer`` runs an answer in the sandbox, ``judge_answer`` judges what was
observed there, ``mistake_locations`` finds where it goes wrong, and ``assess`` does all of it for the exercises of a
notebook, into ``graded_results``; a ``worker`` is a process that does so, and ``dask_workers`` are
those on other machines; ``student_records`` keeps what is finished, and ``settings`` how it came about. What the
instructor sets, in ``tables`` (read, and written safe to open): ``own_exercises``, of which ``handout`` makes a
notebook, ``roster``, ``late_policy``, ``overrides``; ``class_rules`` keeps them, and ``class_results`` puts them over
the verdicts. What goes out: ``gradebook``; from the folder ``templates`` the pages ``feedback``, with ``marked_code``,
``written_page`` and ``class_page``; ``exports`` and ``canvas_feedback`` for other systems. ``class_report`` writes all
that stays here, ``grade`` does everything, and ``progress_bar`` shows how far it is. The security
model is in ``sandbox/README.md``, the instructor's guide in ``docs/grading.md``. Uses ``locating`` and ``sandbox``.
"""
