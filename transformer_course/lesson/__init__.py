"""The functions that a lesson imports: checks, hints, predictions, and the session that they share.

In reading order: ``notebook`` defines the functions that a lesson imports. Its ``session`` checks attempts, and stores
the parts in use and the hints given so far. ``sign_of_life`` shows that a check is still running. ``speed`` compares
the time of an attempt with the time of the reference. ``prediction`` judges a prediction, and ``predictions_made``
counts right predictions. ``lesson_end`` summarizes a lesson, and ``final_page`` the course. ``cell_panels`` shows the
verdicts of a cell, and ``tables`` aligns words in tables. The package uses ``locating`` and ``workspace``.
"""
