"""The command line, ``transformer-course``.

``main`` parses the arguments and runs a command. Learners use ``lab``, ``practice`` and ``reset``; instructors use
``release``, ``grade``, ``feedback`` and ``export``. The commands for models are ``train``, ``evaluate``, ``translate``,
``generate`` and ``push``; they share code in ``common``. ``publish`` writes the files that ``push`` uploads, including
the ``model_card``. Showing a help text does not import torch. Uses ``home``, ``grading`` and, from the model library,
``training``.
"""
