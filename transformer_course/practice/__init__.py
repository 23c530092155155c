"""Practice from memory: exercises that passed return as stubs, and questions return with a collapsed answer.

``schedule`` computes what is due today from the learner's record, with FSRS. ``material`` reads the exercises and the
questions from the published notebooks, ``selection`` chooses some of them, and ``practice_notebook`` writes them into a
notebook. The notebook's cells use ``session``, which asks questions in a ``question_widget``. Only these two need
torch; ``home`` and ``commands`` use the other modules. Uses ``workspace`` and ``lesson``.
"""
