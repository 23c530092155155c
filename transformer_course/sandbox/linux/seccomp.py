"""Deny all system calls with seccomp, except the calls that a computation needs.

Resource limits and Landlock leave gaps. Sockets give access to the network and to services that run commands for any
local user. Shared memory, message queues and keyrings outlive the process, so they could fill the machine or be read by
the next learner's code. If the grader is an unprivileged user, sandboxed code has the same user id, and could change
the permissions of that user's files, or the limits and the scheduling of that user's processes. Finally, every
unnecessary call increases the kernel's attack surface. So ``permitted_system_calls`` lists the allowed calls, and all
other calls are denied.
"""

import ctypes
import platform
import sys
from functools import cache

from transformer_course.sandbox.linux.permitted_system_calls import ALLOWED, ALLOWED_WITH, CLONE, CLONE3, FIRST_UNKNOWN

NEW_NAMESPACE = 0x7E02_0080  # CLONE_NEW*, linux/sched.h
SAME_PROCESS = 0x0001_0000  # CLONE_THREAD
START_PROCESS = ("fork", "vfork", "execve")
MAP_FLAGS = 3  # the argument of mmap
SHARED_OR_STACK = 0x101  # MAP_SHARED | MAP_GROWSDOWN (linux/mman.h): these mappings do not count toward RLIMIT_DATA
ARCHITECTURES = {"x86_64": 0xC000_003E, "aarch64": 0xC000_00B7}  # AUDIT_ARCH_*, linux/audit.h
X32_SYSCALL_BIT = 0x4000_0000  # from this number on, x86-64 has the same calls again under different numbers

LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06  # BPF instructions, linux/bpf_common.h
NUMBER, ARCHITECTURE, FIRST_ARGUMENT, ARGUMENT_BYTES = 0, 4, 16, 8  # offsets in struct seccomp_data, little-endian
ALLOW = 0x7FFF_0000
DENY = 0x0005_0000 | 1  # with EPERM, which Python raises as PermissionError
MISSING = 0x0005_0000 | 38  # with ENOSYS
SET_SECCOMP, FILTER_MODE = 22, 2  # man 2 prctl


class _Instruction(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint16), ("yes", ctypes.c_uint8), ("no", ctypes.c_uint8), ("k", ctypes.c_uint32))


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_uint16), ("instructions", ctypes.POINTER(_Instruction)))


def install_filter(*, single_process: bool = False) -> bool:
    """Irrevocably deny system calls that are not on the allowlist, for this process and all its future children.

    The process must already have set ``PR_SET_NO_NEW_PRIVS``.

    Args:
        single_process: Whether to also deny new processes and programs, and memory that ``RLIMIT_DATA`` does not count.
            Threads are still allowed.

    Returns:
        Whether the filter was installed.
    """
    if sys.platform != "linux" or sys.maxsize < 2**32 or platform.machine() not in ARCHITECTURES:
        return False
    program = filter_for(platform.machine(), single_process)
    return bool(ctypes.CDLL(None).prctl(SET_SECCOMP, FILTER_MODE, ctypes.byref(program), 0, 0) == 0)


@cache
def filter_for(machine: str, single_process: bool = False) -> ctypes.Structure:
    """Return the filter in the kernel's format; building it takes milliseconds, so all jobs share it."""
    instructions = _instructions(machine, single_process)
    return _Program(len(instructions), (_Instruction * len(instructions))(*instructions))


def _instructions(machine: str, single_process: bool = False) -> list[_Instruction]:
    """Return the filter as a sequence of tests, each followed by the action to take if the test succeeds."""
    column = list(ARCHITECTURES).index(machine)
    excluded = (*START_PROCESS, "mmap") if single_process else ()
    numbers = sorted(
        number for name, pair in ALLOWED.items() if (number := pair[column]) is not None and name not in excluded
    )
    new_process = [_Instruction(ANY_BIT, 1, 0, SAME_PROCESS), _Instruction(RETURN, 0, 0, DENY)]
    mapping = _if(
        EQUAL,
        ALLOWED["mmap"][column] or 0,
        _Instruction(LOAD, 0, 0, FIRST_ARGUMENT + ARGUMENT_BYTES * MAP_FLAGS),
        *_if(ANY_BIT, SHARED_OR_STACK, _Instruction(RETURN, 0, 0, DENY)),
        _Instruction(RETURN, 0, 0, ALLOW),
    )
    return [
        _Instruction(LOAD, 0, 0, ARCHITECTURE),
        _Instruction(EQUAL, 1, 0, ARCHITECTURES[machine]),  # other architectures have different numbers
        _Instruction(RETURN, 0, 0, DENY),
        _Instruction(LOAD, 0, 0, NUMBER),
        *_if(AT_LEAST, X32_SYSCALL_BIT, _Instruction(RETURN, 0, 0, DENY)),
        *(test for number in numbers for test in _if(EQUAL, number, _Instruction(RETURN, 0, 0, ALLOW))),
        *_if(
            EQUAL,
            CLONE[column],
            _Instruction(LOAD, 0, 0, FIRST_ARGUMENT),
            *_if(ANY_BIT, NEW_NAMESPACE, _Instruction(RETURN, 0, 0, DENY)),
            *(new_process if single_process else ()),
            _Instruction(RETURN, 0, 0, ALLOW),
        ),
        *(mapping if single_process else ()),
        *(
            test
            for *call, argument, values in ALLOWED_WITH.values()
            for test in _if(
                EQUAL,
                call[column],
                _Instruction(LOAD, 0, 0, FIRST_ARGUMENT + ARGUMENT_BYTES * argument),
                *(test for value in values for test in _if(EQUAL, value, _Instruction(RETURN, 0, 0, ALLOW))),
                _Instruction(RETURN, 0, 0, DENY),
            )
        ),
        *_if(EQUAL, CLONE3, _Instruction(RETURN, 0, 0, MISSING)),
        *_if(AT_LEAST, FIRST_UNKNOWN, _Instruction(RETURN, 0, 0, MISSING)),
        _Instruction(RETURN, 0, 0, DENY),
    ]


def _if(test: int, value: int, *then: _Instruction) -> list[_Instruction]:
    """Return a test of the last loaded value, and the instructions to skip if the test fails."""
    return [_Instruction(test, 0, len(then), value), *then]
