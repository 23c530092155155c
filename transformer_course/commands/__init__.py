"""The command line, ``transformer-course``.

``main`` reads what was typed and runs a command. For learners: ``lab``, ``practice`` and
``reset``. For instructors: ``release``,
``grade``, ``feedback`` and ``export``. For the model library: ``train``, ``evaluate``, ``translate``, ``generate`` and
``push``; ``common`` is what these share, and ``publish`` writes what ``push`` uploads, with the ``model_card``. Help is
shown without torch. Uses ``home``, ``grading``, and of the model library ``training``.
"""
