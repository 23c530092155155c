"""Close, with Linux's seccomp, the doors that neither limits nor Landlock watch.

Sockets lead to the network and to services that would run a command for whoever asks. Shared memory and message queues
stay when a process ends: they would fill the machine, or be read by the next learner's code.
"""

import ctypes
import platform
import sys

DOORS = {
    "x86_64": {"socket": 41, "socketpair": 53, "shmget": 29, "semget": 64, "msgget": 68, "mq_open": 240},
    "aarch64": {"socket": 198, "socketpair": 199, "shmget": 194, "semget": 190, "msgget": 186, "mq_open": 180},
}
"""The numbers of the system calls that open them."""
OTHERS = {"io_uring_setup": 425}  # does what other calls do, past every filter; one number on all architectures
ARCHITECTURES = {"x86_64": 0xC000_003E, "aarch64": 0xC000_00B7}  # linux/audit.h
X32 = 0x4000_0000  # from here on, the same calls under other numbers

LOAD, EQUAL, AT_LEAST, RETURN = 0x20, 0x15, 0x35, 0x06  # linux/bpf_common.h
NUMBER, ARCHITECTURE = 0, 4  # where they stand in struct seccomp_data
ALLOW, REFUSE = 0x7FFF_0000, 0x0005_0000 | 13  # the latter with EACCES, which Python calls a PermissionError
SET_SECCOMP, FILTER = 22, 2  # man 2 prctl


class _Step(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint16), ("yes", ctypes.c_uint8), ("no", ctypes.c_uint8), ("k", ctypes.c_uint32))


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_uint16), ("steps", ctypes.POINTER(_Step)))


def close_doors() -> bool:
    """Refuse these system calls to this process and all it starts, for good; say whether this system can.

    The process must have given up gaining privileges (``PR_SET_NO_NEW_PRIVS``) before.
    """
    if sys.platform != "linux" or sys.maxsize < 2**32 or platform.machine() not in DOORS:
        return False
    steps = _steps(platform.machine())
    program = _Program(len(steps), (_Step * len(steps))(*steps))
    return bool(ctypes.CDLL(None).prctl(SET_SECCOMP, FILTER, ctypes.byref(program), 0, 0) == 0)


def _steps(machine: str) -> list[_Step]:
    """Write the filter: a call by a foreign convention or of a closed door jumps to the last step."""
    numbers = [*DOORS[machine].values(), *OTHERS.values()]
    n = len(numbers)
    return [
        _Step(LOAD, 0, 0, ARCHITECTURE),
        _Step(EQUAL, 0, n + 3, ARCHITECTURES[machine]),
        _Step(LOAD, 0, 0, NUMBER),
        _Step(AT_LEAST, n + 1, 0, X32),
        *(_Step(EQUAL, n - i, 0, number) for i, number in enumerate(numbers)),
        _Step(RETURN, 0, 0, ALLOW),
        _Step(RETURN, 0, 0, REFUSE),
    ]
