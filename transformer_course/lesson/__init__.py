"""What a lesson uses: its checks, hints and predictions, and what they remember.

In reading order: ``notebook`` is what a lesson imports; its ``session`` checks attempts, and remembers the hints given
and the parts in use; ``sign_of_life`` tells that a check still runs, ``speed`` compares an attempt's time with the
reference's, ``prediction`` judges what was said before an experiment, ``predictions_made`` counts how often it was
right, ``lesson_end`` sums a lesson up, ``cell_panels`` shows the verdicts of a cell, and ``tables`` aligns words in
tables. Uses ``locating`` and ``workspace``.
"""
