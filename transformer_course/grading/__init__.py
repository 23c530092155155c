"""The grader: it turns submitted notebooks into a gradebook and feedback.

``grade`` coordinates four packages, in reading order: ``incoming`` reads the submissions, ``rules`` reads the
instructor's settings, ``judging`` runs and judges the answers, and ``reports`` writes tables and pages. The security
model is in ``sandbox/README.md``, the instructor's guide in ``docs/grading.md``.
"""
