"""The command ``transformer-lab``.

``main`` reads what was typed; ``train``, ``evaluate``, ``translate`` and ``generate`` are the commands, ``common`` is
what they share. The one room that uses both the library and the course, and each only when it is needed.
"""
