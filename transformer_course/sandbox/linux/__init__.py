"""What Linux offers to confine a process, a module for each of its means; the rest of the sandbox puts them together.

``landlock`` restricts files, ``seccomp`` system calls to the ``permitted_system_calls``, ``namespaces`` what an
ordinary user's job can see, ``disk_quota`` what it may write, and ``control_groups`` and ``family_watch`` what all of
its processes take; ``sealed_memory`` keeps a process from unmapping torch. ``process_settings`` are those that the
kernel keeps, and ``process_times`` what it measures.
"""
