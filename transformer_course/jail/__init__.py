"""The sandbox: runs learners' code in a process that can harm neither the machine nor the grading.

In reading order: ``jail`` is what the grader sees; ``limits`` are the resource limits of a job; ``interpreter``
starts a Python process on the copy that ``contents`` makes, in a ``container`` if it is told to; in it,
``fork_server`` forks a ``supervisor`` for each job, which forks the process that ``confine`` restricts, with
``landlock``, ``seccomp`` and its list of ``syscalls``, for an ordinary user in ``namespaces`` of its own, and where
the system permits it on a disk (``own_disk``) and in a group (``cgroups``) of its own; ``framing`` is the protocol,
and ``conversation`` what the grader sees of a job that is traced; ``exit_reasons`` say why a process ended, and
``limit_reports`` what the errors in it have to do with its limits; ``process_settings`` are those that Linux keeps,
``process_times`` what it measures, and ``delete_tree`` deletes its files. The README beside this file is the security
model. The whole folder is copied into the jail, together with ``running``. Uses ``running``.
"""
