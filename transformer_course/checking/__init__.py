"""Turn observations of an attempt into a verdict with a message.

In reading order: ``tolerance`` measures the distance between observations. ``expected_behavior`` runs the reference and
the known mistakes, and ``shared_evaluation`` makes this fast for thousands of variants. ``mistake_recognition`` finds
the known mistake with the same behavior as an attempt; ``mistake_pairs`` and ``different_cases`` find two such mistakes
at once. ``side_effects`` detects blocked gradients and changed arguments, ``general_mistakes`` describes these
mistakes, which can occur in every exercise, and ``judge`` returns the verdict.

Several modules compose the message. ``consequence`` describes the effect of a mistake on the output, ``explain``
describes differences between observations, ``crash_help`` suggests fixes for crashes, ``case_display`` formats a small
case as a table, and ``value_difference`` describes the difference between two values, using ``named_shapes``,
``numeric_relation`` and ``formatting``. ``hints`` selects the hints. ``verdict`` holds the result, and
``message_panel`` displays it. Depends on ``exercise`` and ``lesson_order``.
"""
