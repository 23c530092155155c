"""The sandbox: runs learners' code in a process that can harm neither the machine nor the grading.

In reading order: ``sandbox`` is what the grader sees; ``resource_limits`` are those of a job; ``interpreter`` starts a
Python process on the copy that ``copied_code`` makes, in a ``container`` if it is told to; in it, ``fork_server`` forks
a ``supervisor`` for each job, which forks the process that ``confine`` restricts, with the means of ``linux``;
``framing`` is the protocol, and ``trace_conversation`` what the grader sees of a job that is traced; ``exit_reasons``
say why a process ended, ``limit_reports`` what the errors in it have to do with its limits, and ``delete_tree`` deletes
its files. The README beside this file is the security model. The whole folder is copied into the sandbox, together with
``running``. Uses ``running``.
"""
