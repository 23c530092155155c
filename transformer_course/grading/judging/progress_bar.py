"""The bar that shows how much of a class has been graded, and how long the rest takes."""

import contextlib
import warnings
from collections.abc import Iterable, Iterator
from typing import Any

from tqdm import tqdm
from tqdm.contrib.logging import logging_redirect_tqdm

BAR_FORMAT = "{percentage:3.0f} % |{bar}| {n_fmt} of {total_fmt} students, {remaining} left"


def show_progress(graded: Iterable[str], n: int) -> None:
    """Wait until all students are graded, on a terminal with a bar; what is warned meanwhile stands above it.

    Args:
        graded: The students, each as soon as graded.
        n: Number of students.
    """
    with logging_redirect_tqdm(), _warnings_above_the_bar():
        for _ in tqdm(graded, total=n, bar_format=BAR_FORMAT, mininterval=0, leave=False, disable=None):
            pass


@contextlib.contextmanager
def _warnings_above_the_bar() -> Iterator[None]:
    with warnings.catch_warnings():  # which puts back what shows them
        show = warnings.showwarning

        def show_above(*message: Any, **also: Any) -> None:
            with tqdm.external_write_mode():
                show(*message, **also)

        warnings.showwarning = show_above
        yield
