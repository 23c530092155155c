"""The grader: submitted notebooks in, gradebook and feedback out.

``grade`` does everything, with four packages in reading order: ``incoming`` reads what students submit, ``rules`` what
the instructor sets, ``judging`` runs and judges the answers, and ``reports`` writes tables and pages. The security
model is in ``sandbox/README.md``, the instructor's guide in ``docs/grading.md``.
"""
