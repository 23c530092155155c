from collections.abc import Iterator

import pytest

from transformer_lab.course.grading.confine import Limits
from transformer_lab.course.grading.jail import Jail


@pytest.fixture(scope="session")
def jail() -> Iterator[Jail]:
    """A jail with patience for a busy machine; starting one takes seconds, so all tests share it."""
    with Jail(Limits(seconds=60.0, memory_mb=256)) as jail:
        yield jail
