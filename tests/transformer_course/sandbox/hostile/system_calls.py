"""Right answers that first try a system call that no answer needs. They fail if the call succeeds."""

from tests.transformer_course.sandbox.hostile.submission import Answer
from tests.transformer_course.sandbox.linux.test_permitted_system_calls import COLUMN, DANGEROUS
from tests.transformer_course.sandbox.sample_submissions import softmax_after

NAMES = (
    "io_uring_setup", "add_key", "userfaultfd", "bpf", "perf_event_open", "ptrace", "process_vm_readv", "keyctl",
    "request_key", "mount", "unshare", "setns", "open_by_handle_at", "memfd_create", "personality", "kexec_load",
    "shmget", "socketpair", "pidfd_getfd", "seccomp",
)  # fmt: skip
CALL = """
assert ctypes.CDLL(None).syscall(ctypes.c_long({}), 1, 1, 1, 1, 1) == -1
assert ctypes.CDLL(None).syscall(ctypes.c_long({}), 0, 0, 0, 0, 0) == -1
"""

ANSWERS = [
    Answer(f"calls {name}", softmax_after(CALL.format(*[DANGEROUS[name][COLUMN]] * 2)), points=2) for name in NAMES
]
