"""From observations to a verdict, in words.

In reading order: ``judge`` compares what was observed, ``explain`` and ``dimensions`` say how it differs, ``speed``
says how slow it is, ``verdict`` is what comes of it and ``panel`` how that looks. Uses ``exercises``.
"""
