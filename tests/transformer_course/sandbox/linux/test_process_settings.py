import pytest

from tests.transformer_course.sandbox.sample_submissions import linux, run_python
from transformer_course.sandbox.linux.process_settings import prctl

INSPECT = """
import ctypes
from transformer_course.sandbox.linux.process_settings import DUMPABLE, prctl
for value in (0, 1):
    prctl(DUMPABLE, value)
    print(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))
"""


@linux
def test_prctl_changes_a_setting():
    assert run_python(INSPECT).stdout.split() == ["0", "1"]


@linux
def test_prctl_raises_for_unknown_setting():
    with pytest.raises(OSError, match=r"prctl\(12345, 1\)"):
        prctl(12345, 1)
