"""Turn observations of an attempt into a verdict, in words.

In reading order: ``tolerance`` measures the distance between observations. ``expected_behavior`` runs the reference and
the known mistakes (``shared_evaluation`` makes that fast for thousands of variants). ``mistake_recognition`` finds the
mistakes that behave like an attempt; ``mistake_pairs`` and ``different_cases`` do so for two mistakes at once.
``side_effects`` detects cut gradients and changed arguments, ``general_mistakes`` describes these mistakes, which can
occur in every exercise, and ``judge`` returns the verdict.

The words come from ``consequence`` (what goes wrong because of a mistake), ``explain`` (how observations differ),
``crash_help`` (how to fix a crash), ``case_display`` (a small case as a table) and ``value_difference`` (how one value
differs; uses ``named_shapes``, ``numeric_relation`` and ``formatting``). ``hints`` selects the hints for a verdict.
``verdict`` holds the result and ``message_panel`` displays it. Depends on ``exercise`` and ``lesson_order``.
"""
