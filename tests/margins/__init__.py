"""Measure how far each claim that depends on a training run is from being false: ``python -m tests.margins
05_positions``.

Another processor rounds differently, and training amplifies the difference, so each machine acts like a different seed.
So a lesson runs with several instruction sets and seeds, and every comparison, printed number and claim is measured in
each run.

``code`` reads a lesson's cells and instruments their comparisons; ``watch`` records them; ``run`` executes a lesson
once in a separate process; ``claims`` turns the runs into margins; ``stored`` reads and writes the file next to the
source.
"""
