"""What a mutation is."""

from typing import NamedTuple


class Mutation(NamedTuple):
    """A mistake: its row in the list of fifty, what it is, and the text that is replaced to make it."""

    row: int
    mistake: str
    edits: dict[str, str]
    survives: str = ""
    """Why no test can notice it, where none can."""
