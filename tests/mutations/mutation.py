"""What a mutation is."""

from typing import NamedTuple


class Edit(NamedTuple):
    """One piece of code that is replaced; ``rewrite`` says how ``old`` and ``new`` are written."""

    where: str
    """The function, method or class that holds it."""
    old: str
    new: str


class Mutation:
    """A mistake that can be put into a module.

    Args:
        row: Its row in ``docs/mistakes.md``.
        mistake: What it is.
        edits: What is replaced to make it, one after the other.
    """

    def __init__(self, row: int, mistake: str, *edits: Edit) -> None:
        self.row, self.mistake, self.edits = row, mistake, edits
