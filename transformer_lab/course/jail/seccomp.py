"""Block, with Linux's seccomp, the system calls that neither resource limits nor Landlock cover.

Sockets lead to the network and to services that run commands for any local user. Shared memory and message queues
outlive the process: they would fill the machine, or be read by the next learner's code.
"""

import ctypes
import platform
import sys

BLOCKED_SYSCALLS = {
    "x86_64": {"socket": 41, "socketpair": 53, "shmget": 29, "semget": 64, "msgget": 68, "mq_open": 240},
    "aarch64": {"socket": 198, "socketpair": 199, "shmget": 194, "semget": 190, "msgget": 186, "mq_open": 180},
}
"""Numbers of the blocked system calls on each architecture."""
BLOCKED_ON_EVERY_ARCHITECTURE = {"io_uring_setup": 425}  # io_uring does what other calls do, past every filter
ARCHITECTURES = {"x86_64": 0xC000_003E, "aarch64": 0xC000_00B7}  # AUDIT_ARCH_*, linux/audit.h
X32_SYSCALL_BIT = 0x4000_0000  # at and above it, x86-64 has the same calls under other numbers

LOAD, EQUAL, AT_LEAST, RETURN = 0x20, 0x15, 0x35, 0x06  # BPF instructions, linux/bpf_common.h
NUMBER_OFFSET, ARCHITECTURE_OFFSET = 0, 4  # in struct seccomp_data
ALLOW, REFUSE = 0x7FFF_0000, 0x0005_0000 | 13  # the latter with EACCES, which Python raises as PermissionError
SET_SECCOMP, FILTER_MODE = 22, 2  # man 2 prctl


class _Instruction(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint16), ("yes", ctypes.c_uint8), ("no", ctypes.c_uint8), ("k", ctypes.c_uint32))


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_uint16), ("instructions", ctypes.POINTER(_Instruction)))


def install_filter() -> bool:
    """Refuse the blocked system calls to this process and to all its future children, irrevocably.

    The process must have set ``PR_SET_NO_NEW_PRIVS`` before.

    Returns:
        Whether this system has installed the filter.
    """
    if sys.platform != "linux" or sys.maxsize < 2**32 or platform.machine() not in BLOCKED_SYSCALLS:
        return False
    instructions = _instructions(platform.machine())
    program = _Program(len(instructions), (_Instruction * len(instructions))(*instructions))
    return bool(ctypes.CDLL(None).prctl(SET_SECCOMP, FILTER_MODE, ctypes.byref(program), 0, 0) == 0)


def _instructions(machine: str) -> list[_Instruction]:
    """Return the filter: a blocked call, or a call by another architecture's numbers, jumps to the last instruction."""
    numbers = [*BLOCKED_SYSCALLS[machine].values(), *BLOCKED_ON_EVERY_ARCHITECTURE.values()]
    n = len(numbers)
    return [
        _Instruction(LOAD, 0, 0, ARCHITECTURE_OFFSET),
        _Instruction(EQUAL, 0, n + 3, ARCHITECTURES[machine]),
        _Instruction(LOAD, 0, 0, NUMBER_OFFSET),
        _Instruction(AT_LEAST, n + 1, 0, X32_SYSCALL_BIT),
        *(_Instruction(EQUAL, n - i, 0, number) for i, number in enumerate(numbers)),
        _Instruction(RETURN, 0, 0, ALLOW),
        _Instruction(RETURN, 0, 0, REFUSE),
    ]
