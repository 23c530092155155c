"""The sandbox: a process that can harm nobody. The whole folder is copied into it, with ``running``.

In reading order: ``jail`` is what the grader sees; ``limits`` say what a job may use; ``interpreter`` starts a Python
on the copy that ``contents`` makes; there ``fork_server`` forks a ``supervisor`` for each job, which has a child
``confine`` itself with ``landlock`` and ``seccomp``; ``framing`` is the protocol, ``exit_reasons`` are how it ends,
and ``delete_tree`` cleans up. Uses ``running``.
"""
