"""Measure the margins of claims about training runs, for example with ``python -m tests.margins 05_positions``.

Different processors round differently, and training amplifies the differences. So training on another machine is like
training with another seed. Therefore, these tools run a lesson with several instruction sets and seeds, and measure
every comparison, printed number and claim in each run.

``code`` reads a lesson's cells and instruments their comparisons, and ``watch`` records the comparisons. ``run``
executes a lesson once in a separate process, and ``runs`` lists the runs of a lesson. ``claims`` computes margins from
the runs, and ``stored`` reads and writes the file with the margins.
"""
