"""The command ``transformer-course``.

``main`` reads what was typed and runs a command: ``lab``; ``release``, ``grade``, ``feedback`` or ``export``;
``train``, ``evaluate``, ``translate``, ``generate`` or ``push``. ``common`` is what they share. The one room that uses
both the library and the course, and each only when a command needs it: help is shown without torch.
"""
