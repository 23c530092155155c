import os
import re

import pytest

from tests.transformer_course.sandbox.sample_submissions import linux, messages_with_memory
from transformer_course.sandbox.sandbox import Sandbox


@linux
def test_memory_test_job_cannot_unmap_initial_mappings(sandbox: Sandbox):
    if tuple(map(int, os.uname().release.split(".")[:2])) < (6, 10):
        pytest.skip("this kernel cannot seal memory")
    body = """
libc = ctypes.CDLL(None)
libc.munmap.argtypes = ctypes.c_void_p, ctypes.c_size_t
libc.getauxval.argtypes, libc.getauxval.restype = [ctypes.c_ulong], ctypes.c_ulong
header = libc.getauxval(3) & -4096  # AT_PHDR: the first page of Python itself
raise ValueError(f'munmap returned {libc.munmap(header, 4096)}')
"""
    messages = messages_with_memory(sandbox, body, [sandbox.limits.memory_mb, 32])
    assert re.search("munmap returned 0|SIGSEGV", messages[0]) and "munmap returned -1" in messages[1], messages
