"""The command ``transformer-course``.

``main`` reads what was typed and runs a command: ``train``, ``evaluate``, ``translate``, ``generate`` or ``push``, or
one that another package adds by an entry point of the group ``transformer_lab.commands``, as the course does.
``common`` is what they share. Help is shown without torch.
"""
