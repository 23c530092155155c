"""Run learners' code in a sandbox, in a process that can harm neither the machine nor the grading.

In reading order: ``sandbox`` is the grader's interface. ``resource_limits`` defines the limits of a job.
``interpreter`` starts a Python process that can import only the code copied by ``copied_code``, optionally in a
``container``. In that process, ``fork_server`` forks a ``supervisor`` for each notebook, and the supervisor forks a
process for each job. ``confine`` restricts the job's process with the modules of ``linux``. ``framing`` implements the
protocol, and ``trace_conversation`` is the grader's interface to a traced job. ``exit_reasons`` explains why a process
ended, ``limit_reports`` explains errors caused by limits, and ``delete_tree`` deletes files. README.md in this folder
describes the security model. The whole folder is copied into the sandbox, together with ``running``. Uses ``running``.
"""
