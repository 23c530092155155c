"""The parts of the package that are installed only when they are asked for: extras, as pip calls them."""

from collections.abc import Iterator
from contextlib import contextmanager


class MissingExtra(ModuleNotFoundError):
    """A package is not installed that comes with an extra; the message says how to install it."""


@contextmanager
def needs_extra(what: str, extra: str | None) -> Iterator[None]:
    """Name the extra where a package turns out to be missing.

    Args:
        what: What needs the extra, such as ``transformer-course lab``.
        extra: Its name in ``pyproject.toml``. None: nothing is known to be needed, and errors go on as they are.

    Raises:
        MissingExtra: A package that is not our own could not be found.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if extra is None or not missing or missing == __name__.partition(".")[0]:
            raise
        raise MissingExtra(
            f"{what} needs the extra {extra!r}, for {missing}: pip install 'transformer-course[{extra}]'",
            name=error.name,
        ) from error
