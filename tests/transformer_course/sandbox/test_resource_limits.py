import re
from typing import Any

import pytest

from transformer_course.sandbox.resource_limits import Limits


@pytest.mark.parametrize(
    ("name", "value"),
    [("seconds", 0), ("seconds", -1), ("seconds", float("nan")), ("seconds", float("inf")), ("memory_mb", 0),
     ("memory_mb", 10**20), ("processes", 0)],
)  # fmt: skip
def test_a_limit_that_is_none_is_refused(name: str, value: Any):
    message = f"{name} must be above 0 and at most 1,000,000; got {name}={value}"
    with pytest.raises(ValueError, match=re.escape(message)):
        Limits(**{name: value})


def test_a_process_is_killed_only_after_it_could_say_itself_that_time_is_up():
    assert Limits(seconds=3.0).kill_after > 3.0
