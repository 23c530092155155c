"""Working functions and classes for later cells: the learner's definitions that have passed, or else the library's."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


class Parts:
    """The learner's functions and classes that have passed, and the library's versions of all others.

    ``parts.softmax(scores)`` calls a part. Printing ``parts`` lists the learner's own parts. The sandbox has its own
    instance of this class.

    Args:
        library: A function that returns the library's part with a given name, or raises ``KeyError`` if there is none.
    """

    def __init__(self, library: Callable[[str], Any]) -> None:
        self._library = library
        self._own: dict[str, Any] = {}
        self._blocked: str | None = None

    def add(self, name: str, part: Any) -> None:
        """Use the learner's part from now on."""
        self._own[name] = part

    def remove(self, name: str) -> None:
        """Use the library's part again."""
        self._own.pop(name, None)

    @contextmanager
    def without(self, name: str) -> Iterator[None]:
        """Block one part inside the ``with`` block, so that an exercise cannot be answered with its own part."""
        before, self._blocked = self._blocked, name
        try:
            yield
        finally:
            self._blocked = before

    def is_blocked(self, name: str) -> bool:
        """Return whether a part is currently blocked."""
        return name == self._blocked

    def __getattr__(self, name: str) -> Any:
        if self.is_blocked(name):
            raise AttributeError(f"parts.{name} is not available in this exercise, because you implement it here")
        if name in self._own:
            return self._own[name]
        try:
            return self._library(name)
        except KeyError:
            raise AttributeError(f"`parts` has no function or class named {name!r}; check the spelling") from None

    def whose(self, name: str) -> str:
        """Return whether a part is ``yours`` or ``the library's``."""
        getattr(self, name)
        return "yours" if name in self._own else "the library's"

    def __repr__(self) -> str:
        own = ", ".join(self._own) or "none yet"
        return f"Parts of your own: {own}. All others are the library's."
