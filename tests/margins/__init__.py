"""Measure the margin by which each claim about a training run holds, with ``python -m tests.margins 05_positions``.

Different processors round differently, and training amplifies the differences, so changing the machine is like changing
the seed. Therefore, a lesson runs with several instruction sets and seeds, and every comparison, printed number and
claim is measured in each run.

``code`` reads a lesson's cells and instruments their comparisons, and ``watch`` records the comparisons. ``run``
executes a lesson once in a separate process, and ``runs`` lists the runs of a lesson. ``claims`` computes margins from
the runs, and ``stored`` reads and writes the file with the margins.
"""
