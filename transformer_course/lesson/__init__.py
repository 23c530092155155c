"""What a lesson uses: checks, hints, predictions, and the session that they share.

In reading order: ``notebook`` has the functions that a lesson imports; its ``session`` checks attempts, and stores the
hints given and the parts in use; ``sign_of_life`` shows that a check is still running; ``speed`` compares an attempt's
time with the reference's; ``prediction`` judges a prediction, and ``predictions_made`` counts those that were right;
``lesson_end`` sums up a lesson and ``final_page`` the course, ``cell_panels`` shows the verdicts of a cell, and
``tables`` aligns words in tables. Uses ``locating`` and ``workspace``.
"""
