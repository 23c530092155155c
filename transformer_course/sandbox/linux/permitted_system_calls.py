"""The system calls that Python, NumPy and torch need to compute an answer, and their numbers."""

ALLOWED: dict[str, tuple[int | None, int | None]] = {
    # memory
    "brk": (12, 214), "mmap": (9, 222), "munmap": (11, 215), "mprotect": (10, 226), "mremap": (25, 216),
    "madvise": (28, 233), "msync": (26, 227), "mincore": (27, 232), "mlock": (149, 228), "munlock": (150, 229),
    "membarrier": (324, 283),
    # processes, threads and synchronization
    "fork": (57, None), "vfork": (58, None), "execve": (59, 221), "exit": (60, 93), "exit_group": (231, 94),
    "wait4": (61, 260), "waitid": (247, 95), "set_tid_address": (218, 96), "set_robust_list": (273, 99),
    "get_robust_list": (274, 100), "rseq": (334, 293), "futex": (202, 98), "sched_yield": (24, 124),
    "sched_getaffinity": (204, 123), "sched_getparam": (143, 121), "sched_getscheduler": (145, 120),
    "sched_get_priority_max": (146, 125), "sched_get_priority_min": (147, 126), "getpriority": (140, 141),
    "getcpu": (309, 168), "kill": (62, 129), "tkill": (200, 130), "tgkill": (234, 131), "getpgid": (121, 155),
    "getpgrp": (111, None), "getsid": (124, 156), "getpid": (39, 172), "getppid": (110, 173), "gettid": (186, 178),
    "restart_syscall": (219, 128), "arch_prctl": (158, None),
    # signals
    "rt_sigaction": (13, 134), "rt_sigprocmask": (14, 135), "rt_sigreturn": (15, 139), "rt_sigpending": (127, 136),
    "rt_sigsuspend": (130, 133), "rt_sigtimedwait": (128, 137), "sigaltstack": (131, 132), "pause": (34, None),
    "alarm": (37, None), "setitimer": (38, 103), "getitimer": (36, 102),
    # time and random numbers
    "clock_gettime": (228, 113), "clock_getres": (229, 114), "clock_nanosleep": (230, 115), "nanosleep": (35, 101),
    "gettimeofday": (96, 169), "time": (201, None), "times": (100, 153), "getrandom": (318, 278),
    # identity and location
    "getuid": (102, 174), "geteuid": (107, 175), "getgid": (104, 176), "getegid": (108, 177), "getresuid": (118, 148),
    "getresgid": (120, 150), "getgroups": (115, 158), "uname": (63, 160), "sysinfo": (99, 179),
    "getrusage": (98, 165), "getrlimit": (97, 163), "setrlimit": (160, 164), "capget": (125, 90), "umask": (95, 166),
    # open files
    "open": (2, None), "openat": (257, 56), "creat": (85, None), "close": (3, 57), "close_range": (436, 436),
    "read": (0, 63), "write": (1, 64), "readv": (19, 65), "writev": (20, 66), "pread64": (17, 67),
    "pwrite64": (18, 68), "lseek": (8, 62), "dup": (32, 23), "dup2": (33, None), "dup3": (292, 24), "fsync": (74, 82),
    "fdatasync": (75, 83), "ftruncate": (77, 46), "truncate": (76, 45), "fallocate": (285, 47),
    "fadvise64": (221, 223), "sendfile": (40, 71), "copy_file_range": (326, 285),
    "pipe": (22, None), "pipe2": (293, 59), "poll": (7, None), "ppoll": (271, 73), "select": (23, None),
    "pselect6": (270, 72), "epoll_create": (213, None), "epoll_create1": (291, 20), "epoll_ctl": (233, 21),
    "epoll_wait": (232, None), "epoll_pwait": (281, 22), "eventfd2": (290, 19),
    # paths
    "access": (21, None), "faccessat": (269, 48), "faccessat2": (439, 439), "stat": (4, None), "fstat": (5, 80),
    "lstat": (6, None), "newfstatat": (262, 79), "statx": (332, 291), "statfs": (137, 43), "fstatfs": (138, 44),
    "readlink": (89, None), "readlinkat": (267, 78), "getcwd": (79, 17), "chdir": (80, 49), "fchdir": (81, 50),
    "getdents": (78, None), "getdents64": (217, 61), "mkdir": (83, None), "mkdirat": (258, 34), "rmdir": (84, None),
    "unlink": (87, None), "unlinkat": (263, 35), "rename": (82, None), "renameat": (264, 38), "renameat2": (316, 276),
    "link": (86, None), "linkat": (265, 37), "symlink": (88, None), "symlinkat": (266, 36),
}  # fmt: skip
"""Number of each call on x86-64 and on arm64, or None if the architecture does not have the call."""

ALLOWED_WITH: dict[str, tuple[int, int, int, tuple[int, ...]]] = {
    "fcntl": (72, 25, 1, (0, 1, 2, 3, 4, 1030, 1031, 1032)),  # no signals or locks: they affect other processes
    # queries about terminals and pipes
    "ioctl": (16, 29, 1, (0x5401, 0x802C_542A, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)),
    "prctl": (157, 167, 0, (15, 16, 23, 39)),  # the name and the privileges of a thread
    "prlimit64": (302, 261, 0, (0,)),  # only for the calling process
}
"""Both numbers of each call as above, the index of an argument, and its permitted values (``man 2`` of the call)."""
CLONE = (56, 220)
"""``clone`` is allowed unless its first argument requests a new namespace."""
CLONE3 = 435
"""``clone3`` fails with ENOSYS, so that libc uses ``clone``. A filter cannot read arguments in memory."""
FIRST_UNKNOWN = 467
"""This call and all later calls fail with ENOSYS, which programs handle as they do on an older system."""
