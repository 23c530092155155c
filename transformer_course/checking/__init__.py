"""From observations to a verdict, in words.

In reading order: ``tolerance`` measures how far apart observations are, ``mistake_pairs`` tells which two mistakes are
tried at once, ``expected_behavior`` holds what the reference and the mistakes show, for thousands of them with what
``shared_evaluation`` keeps, ``different_cases`` finds two that show in different cases, ``mistake_recognition`` all
mistakes that an attempt behaves like, ``side_effects`` are gradients that are cut and arguments that are changed,
``general_mistakes`` what is said about these in every exercise, and ``judge`` decides. ``consequence`` says what goes
wrong because of a mistake, ``explain`` how observations differ, ``crash_help`` what to do about a crash,
``case_display`` shows a small case, and ``value_difference`` says how one value differs, with ``named_shapes``,
``numeric_relation`` and ``formatting``; ``hints`` tells which hints belong to a verdict. ``verdict`` is what comes of
it and ``message_panel`` how that looks. Uses ``exercise`` and ``lesson_order``.
"""
