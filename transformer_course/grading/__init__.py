"""The grader, which turns submitted notebooks into a gradebook and feedback.

``grade`` coordinates four packages, in reading order: ``incoming`` reads the submissions, ``rules`` reads the
instructor's settings, ``judging`` runs and judges the answers, and ``reports`` writes tables and pages. For the
security model, see ``sandbox/README.md``; for the instructor's guide, see ``docs/grading.md``.
"""
