"""Refuse, with Linux's seccomp, the system calls that neither resource limits nor Landlock cover.

Sockets lead to the network and to services that run commands for any local user. Shared memory, message queues and
keyrings outlive the process: they would fill the machine, or be read by the next learner's code. Where the grader is an
ordinary user, jailed code has the same user id, and so could change the permissions of that user's files, or the
limits and the scheduling of that user's processes: no signal is needed for it, and Landlock lets it pass.
"""

import ctypes
import platform
import sys

REFUSED_SYSCALLS = {
    "x86_64": {
        # the network, and what outlives the process
        "socket": 41, "socketpair": 53, "shmget": 29, "semget": 64, "msgget": 68, "mq_open": 240,
        "add_key": 248, "request_key": 249, "keyctl": 250,
        # owners, permissions, times and attributes of files, which Landlock does not cover
        "chmod": 90, "fchmod": 91, "fchmodat": 268, "chown": 92, "fchown": 93, "lchown": 94, "fchownat": 260,
        "utime": 132, "utimes": 235, "futimesat": 261, "utimensat": 280,
        "setxattr": 188, "lsetxattr": 189, "fsetxattr": 190,
        "removexattr": 197, "lremovexattr": 198, "fremovexattr": 199,
        # other processes
        "sched_setparam": 142, "sched_setscheduler": 144, "sched_setaffinity": 203, "sched_setattr": 314,
        "setpriority": 141, "ioprio_set": 251, "ptrace": 101, "process_vm_readv": 310, "process_vm_writev": 311,
        # namespaces and mounts: they give rights over what is inside, and open much of the kernel
        "unshare": 272, "setns": 308, "mount": 165, "umount2": 166, "pivot_root": 155, "chroot": 161,
        "bpf": 321, "perf_event_open": 298, "userfaultfd": 323,
    },
    "aarch64": {
        "socket": 198, "socketpair": 199, "shmget": 194, "semget": 190, "msgget": 186, "mq_open": 180,
        "add_key": 217, "request_key": 218, "keyctl": 219,
        "fchmod": 52, "fchmodat": 53, "fchownat": 54, "fchown": 55, "utimensat": 88,
        "setxattr": 5, "lsetxattr": 6, "fsetxattr": 7, "removexattr": 14, "lremovexattr": 15, "fremovexattr": 16,
        "sched_setparam": 118, "sched_setscheduler": 119, "sched_setaffinity": 122, "sched_setattr": 274,
        "setpriority": 140, "ioprio_set": 30, "ptrace": 117, "process_vm_readv": 270, "process_vm_writev": 271,
        "unshare": 97, "setns": 268, "mount": 40, "umount2": 39, "pivot_root": 41, "chroot": 51,
        "bpf": 280, "perf_event_open": 241, "userfaultfd": 282,
    },
}  # fmt: skip
"""Numbers of the refused system calls on each architecture."""
REFUSED_ON_EVERY_ARCHITECTURE = {
    "io_uring_setup": 425,  # io_uring does what other calls do, past every filter
    "fsopen": 430, "fsmount": 432, "move_mount": 429, "mount_setattr": 442,
    "pidfd_getfd": 438, "process_madvise": 440, "fchmodat2": 452, "setxattrat": 463, "removexattrat": 466,
}  # fmt: skip
PRLIMIT = {"x86_64": 302, "aarch64": 261}
"""``prlimit64``, which is allowed for the calling process only: its first argument is 0 there."""
CLONE = {"x86_64": 56, "aarch64": 220}
"""``clone``, which is allowed unless its first argument asks for a new namespace."""
CLONE3 = 435
"""Its arguments are behind a pointer, where no filter sees them: it is said to be missing, and ``clone`` is used."""
NEW_NAMESPACE = 0x7E02_0080  # CLONE_NEW*, linux/sched.h
ARCHITECTURES = {"x86_64": 0xC000_003E, "aarch64": 0xC000_00B7}  # AUDIT_ARCH_*, linux/audit.h
X32_SYSCALL_BIT = 0x4000_0000  # at and above it, x86-64 has the same calls under other numbers

LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06  # BPF instructions, linux/bpf_common.h
NUMBER, ARCHITECTURE, FIRST_ARGUMENT = 0, 4, 16  # offsets in struct seccomp_data, little-endian
ALLOW = 0x7FFF_0000
REFUSE = 0x0005_0000 | 13  # with EACCES, which Python raises as PermissionError
MISSING = 0x0005_0000 | 38  # with ENOSYS
SET_SECCOMP, FILTER_MODE = 22, 2  # man 2 prctl


class _Instruction(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint16), ("yes", ctypes.c_uint8), ("no", ctypes.c_uint8), ("k", ctypes.c_uint32))


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_uint16), ("instructions", ctypes.POINTER(_Instruction)))


def install_filter() -> bool:
    """Refuse these system calls to this process and to all its future children, irrevocably.

    The process must have set ``PR_SET_NO_NEW_PRIVS`` before.

    Returns:
        Whether this system has installed the filter.
    """
    if sys.platform != "linux" or sys.maxsize < 2**32 or platform.machine() not in REFUSED_SYSCALLS:
        return False
    instructions = _instructions(platform.machine())
    program = _Program(len(instructions), (_Instruction * len(instructions))(*instructions))
    return bool(ctypes.CDLL(None).prctl(SET_SECCOMP, FILTER_MODE, ctypes.byref(program), 0, 0) == 0)


def _instructions(machine: str) -> list[_Instruction]:
    """Return the filter: its tests, each with where to go if it holds and if not, then its ends."""
    refused = [*REFUSED_SYSCALLS[machine].values(), *REFUSED_ON_EVERY_ARCHITECTURE.values()]
    tests: list[tuple[int, int, str, str]] = [
        (LOAD, ARCHITECTURE, "", ""),
        (EQUAL, ARCHITECTURES[machine], "next", "refuse"),  # another one has other numbers
        (LOAD, NUMBER, "", ""),
        (AT_LEAST, X32_SYSCALL_BIT, "refuse", "next"),
        *((EQUAL, number, "refuse", "next") for number in refused),
        (EQUAL, CLONE3, "missing", "next"),
        (EQUAL, CLONE[machine], "next", "skip two"),
        (LOAD, FIRST_ARGUMENT, "", ""),
        (ANY_BIT, NEW_NAMESPACE, "refuse", "allow"),
        (EQUAL, PRLIMIT[machine], "next", "allow"),
        (LOAD, FIRST_ARGUMENT, "", ""),
        (EQUAL, 0, "allow", "refuse"),
    ]
    ends = {"allow": ALLOW, "refuse": REFUSE, "missing": MISSING}
    offsets = {"": 0, "next": 0, "skip two": 2}

    def offset(label: str, here: int) -> int:
        return offsets[label] if label in offsets else len(tests) + list(ends).index(label) - here - 1

    return [
        *(_Instruction(code, offset(yes, i), offset(no, i), k) for i, (code, k, yes, no) in enumerate(tests)),
        *(_Instruction(RETURN, 0, 0, value) for value in ends.values()),
    ]
