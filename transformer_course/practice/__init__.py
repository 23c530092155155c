"""Practice: exercises that passed come back as blank stubs, and questions come back with a folded answer.

``schedule`` computes from the learner's record what is due today, by FSRS. ``material`` reads the exercises and the
questions from the published notebooks, ``selection`` chooses some of them, and ``practice_notebook`` writes them into a
notebook. The notebook's cells use ``session``, which asks questions in a ``question_widget``. Only these two need
torch: ``home`` and ``commands`` use the other modules. Uses ``workspace`` and ``lesson``.
"""
