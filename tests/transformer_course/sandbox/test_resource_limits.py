import re
from typing import Any

import pytest

from transformer_course.sandbox.resource_limits import Limits


@pytest.mark.parametrize(
    ("name", "value"),
    [("seconds", 0), ("seconds", -1), ("seconds", float("nan")), ("seconds", float("inf")), ("memory_mb", 0),
     ("memory_mb", 10**20), ("processes", 0)],
)  # fmt: skip
def test_rejects_invalid_limits(name: str, value: Any):
    message = f"{name} must be above 0 and at most 1,000,000; got {name}={value}"
    with pytest.raises(ValueError, match=re.escape(message)):
        Limits(**{name: value})


def test_process_has_time_to_report_its_timeout():
    assert Limits(seconds=3.0).kill_after > 3.0
