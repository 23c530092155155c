"""Commands of ``transformer-lab`` that need only the model: ``train``, ``evaluate``, ``translate`` and
``generate``.

Each module adds its arguments to the command line, and imports what it needs only when it runs.
"""
