"""Practice from memory: solved exercises come back as stubs, and questions come back with a collapsed answer.

``schedule`` uses FSRS to compute what is due today from the learner's record. ``material`` reads the exercises and
questions from the published notebooks, ``selection`` chooses some of them, and ``practice_notebook`` writes a notebook
that contains them. The notebook's cells use ``session``, which asks questions in a ``question_widget``. Only these two
modules require torch; ``home`` and ``commands`` use only the other modules. Uses ``workspace`` and ``lesson``.
"""
