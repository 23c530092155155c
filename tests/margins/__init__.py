"""How far each claim that hangs on a training run is from being false: ``python -m tests.margins 05_positions``.

Another processor rounds otherwise, and training makes much of it: each machine is another seed. So a lesson is run
under several sets of instructions and from several seeds, and what it compares, prints and says is measured in each.

``code`` reads a lesson's cells and makes them tell what they compare; ``watch`` writes that down; ``run`` executes a
lesson once, in a process of its own; ``claims`` turns the runs into margins; ``stored`` is the file beside the source.
"""
