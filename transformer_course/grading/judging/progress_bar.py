"""Show the number of graded students and the remaining time in a progress bar."""

import contextlib
import warnings
from collections.abc import Iterable, Iterator
from typing import Any

from tqdm import tqdm
from tqdm.contrib.logging import logging_redirect_tqdm

BAR_FORMAT = "{percentage:3.0f} % |{bar}| {n_fmt} of {total_fmt} students, {remaining} left"


def show_progress(graded: Iterable[str], n: int) -> None:
    """Wait until all students are graded. A terminal shows a progress bar, with warnings above it.

    Args:
        graded: An iterator that yields each student's name after grading the student.
        n: Number of students.
    """
    with logging_redirect_tqdm(), _warnings_above_the_bar():
        for _ in tqdm(graded, total=n, bar_format=BAR_FORMAT, mininterval=0, leave=False, disable=None):
            pass


@contextlib.contextmanager
def _warnings_above_the_bar() -> Iterator[None]:
    with warnings.catch_warnings():  # restores the function that shows warnings
        show = warnings.showwarning

        def show_above(*args: Any, **kwargs: Any) -> None:
            with tqdm.external_write_mode():
                show(*args, **kwargs)

        warnings.showwarning = show_above
        yield
