"""From observations to a verdict, in words.

In reading order: ``tolerance`` measures how far apart observations are, ``expected_behaviour`` holds what the reference
and the mistakes show, ``mistake_recognition`` finds the mistakes that an attempt behaves like, ``side_effects`` are
gradients that are cut and arguments that are changed, and ``judge`` decides. ``explain``, ``named_shapes`` and
``numeric_relation`` say how observations differ, and ``hints`` which hints belong to a verdict. ``verdict`` is what
comes of it and ``message_panel`` how that looks. Uses ``exercise``.
"""
