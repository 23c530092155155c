"""What several tests share."""

import pytest

pytest.register_assert_rewrite("tests.helpers.contracts")  # so that a failure shows values there as in tests
