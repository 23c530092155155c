"""The commands of the course: ``lab``; ``release``, ``grade``, ``feedback`` and ``export``.

Each joins the command line of the library by an entry point in ``pyproject.toml``, so the library imports nothing of
the course. Uses ``home`` and ``grading``.
"""
