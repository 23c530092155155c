"""From observations to a verdict, in words.

In reading order: ``tolerance`` measures how far apart observations are, ``behaviour`` holds what the reference and the
mistakes show, ``recognition`` finds the mistakes that an attempt behaves like, ``side_effects`` are gradients that are
cut and arguments that are changed, and ``judge`` decides. ``explain``, ``dimensions`` and ``relation`` say how
observations differ. ``place`` finds the expression that is wrong where no mistake is named, by the ``forms`` in which
code may have right values, and ``origin`` the one that first has another dtype or changes something; ``facts`` say how
its value differs, ``ladders`` which hints belong to a verdict, and ``speed`` how slow an attempt is. ``verdict`` is
what comes of it and ``panel`` how that looks. ``prediction`` judges what was said before an experiment. Uses
``exercises``.
"""
