from collections.abc import Iterator

import pytest

from transformer_lab.course.grading.confine import Limits
from transformer_lab.course.grading.jail import Jail


@pytest.fixture(scope="module")
def jail() -> Iterator[Jail]:
    """A jail with short patience; starting one takes seconds, so a module's tests share it."""
    with Jail(Limits(seconds=2.0, memory_mb=512)) as jail:
        yield jail
