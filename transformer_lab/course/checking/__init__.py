"""From observations to a verdict, in words.

In reading order: ``tolerance`` measures how far apart observations are, ``judge`` compares them with what is right and
with known mistakes, ``explain``, ``dimensions`` and ``relation`` say how they differ, and ``speed`` how slow an attempt
is; ``verdict`` is what comes of it and ``panel`` how that looks. ``prediction`` judges what was said before an
experiment. Uses ``exercises``.
"""
