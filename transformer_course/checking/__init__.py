"""Turn observations of an attempt into a verdict with a message.

In reading order: ``tolerance`` measures the distance between observations. ``expected_behavior`` runs the reference and
the known mistakes, and ``shared_evaluation`` makes this fast for thousands of variants. ``mistake_recognition`` finds
the mistakes that behave like an attempt; ``mistake_pairs`` and ``different_cases`` do this for two mistakes at once.
``side_effects`` detects cut gradients and changed arguments, ``general_mistakes`` describes these mistakes, which can
occur in every exercise, and ``judge`` returns the verdict.

The message is composed from ``consequence`` (the effect of a mistake on the output), ``explain`` (how observations
differ), ``crash_help`` (how to fix a crash), ``case_display`` (a small case as a table) and ``value_difference`` (how
one value differs; uses ``named_shapes``, ``numeric_relation`` and ``formatting``). ``hints`` selects the hints.
``verdict`` holds the result and ``message_panel`` displays it. Depends on ``exercise`` and ``lesson_order``.
"""
