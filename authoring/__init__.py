"""What authors build and measure for the lessons: not shipped with the course.

``glossary`` and ``interview_questions`` collect from the sections that ``lesson_text`` finds; ``page_to_keep`` puts the
course on one sheet of paper. ``notebooks/build.py`` and ``docs/site`` use them. ``train_residual_runs`` trains what a
view shows, ``train_gpt`` the model that lesson 09 loads, and ``train_translator`` the one that lesson 08 loads, on what
``message_pairs`` reads. ``build_slips`` makes the catalogues of slips that a check recognises, and ``room_map`` draws
which room may import which.
"""
