"""Working parts for later cells: the learner's own where there is one, else the library's."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


class Parts:
    """The learner's functions and classes once they have passed, the library's until then.

    ``parts.softmax(scores)`` uses one; printing ``parts`` says which are the learner's. The sandbox has its own
    instance.

    Args:
        library: Function from a name to the library's part; raises ``KeyError`` where there is none.
    """

    def __init__(self, library: Callable[[str], Any]) -> None:
        self._library = library
        self._own: dict[str, Any] = {}
        self._asked_for: str | None = None

    def add(self, name: str, part: Any) -> None:
        """Use a part of the learner's from now on."""
        self._own[name] = part

    def remove(self, name: str) -> None:
        """Use the library's part again, if this one was the learner's."""
        self._own.pop(name, None)

    @contextmanager
    def without(self, name: str) -> Iterator[None]:
        """Refuse one part inside the block: the exercise that asks for it must not be answered with it."""
        before, self._asked_for = self._asked_for, name
        try:
            yield
        finally:
            self._asked_for = before

    def refuses(self, name: str) -> bool:
        """Return whether a part is refused at the moment."""
        return name == self._asked_for

    def __getattr__(self, name: str) -> Any:
        if self.refuses(name):
            raise AttributeError(f"parts.{name} is what this exercise asks you to write")
        if name in self._own:
            return self._own[name]
        try:
            return self._library(name)
        except KeyError:
            raise AttributeError(f"there is no part called {name!r}") from None

    def whose(self, name: str) -> str:
        """Return whose part a name stands for: ``yours`` or ``the library's``."""
        getattr(self, name)
        return "yours" if name in self._own else "the library's"

    def __repr__(self) -> str:
        own = ", ".join(self._own) or "none yet"
        return f"Parts of your own: {own}. All others are the library's."
