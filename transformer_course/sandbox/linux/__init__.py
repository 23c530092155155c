"""Confine a process with Linux's mechanisms. The modules wrap one mechanism each.

``landlock`` restricts file access, ``seccomp`` restricts system calls to the ``permitted_system_calls``, ``namespaces``
isolates an unprivileged user's job, ``private_root`` hides other files, ``disk_quota`` limits disk use,
``control_groups`` and ``family_watch`` limit the total resources of a job's processes, and ``sealed_memory`` prevents a
process from unmapping torch. ``process_settings`` changes kernel settings of a process, and ``process_times`` measures
CPU and waiting times.
"""
