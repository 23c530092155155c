"""Linux's mechanisms for confining a process, one module for each; the rest of the sandbox combines them.

``landlock`` restricts file access, ``seccomp`` restricts system calls to the ``permitted_system_calls``, ``namespaces``
isolates an unprivileged user's job, ``private_root`` hides other files, ``disk_quota`` limits disk use, and
``control_groups`` and ``family_watch`` limit the resources of all processes of a job; ``sealed_memory`` prevents a
process from unmapping torch. ``process_settings`` changes kernel settings of a process, and ``process_times`` measures
its times.
"""
