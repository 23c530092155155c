"""What is said about slips that can be made in an encoder and in a decoder, so that each is described once."""

from collections.abc import Callable, Sequence
from typing import Any

from transformer_lab.course.exercise import Mistake

Code = Callable[..., Any]


def tokens_not_embedded(attempt: Code) -> Mistake:
    """``tokens + positions``."""
    return Mistake(
        "tokens_not_embedded",
        [attempt],
        says="The positions are added to the tokens' *numbers*. Look up their vectors first.",
        hints=[
            "What does `__init__` prepare that is not used?",
            "A token is a row number of the table in `self.embedding`.",
            "`self.embedding(tokens)` gives (batch, n, d_model).",
        ],
    )


def positions_called(attempt: Code) -> Mistake:
    """``self.positions(x)``."""
    return Mistake(
        "positions_called",
        [attempt],
        says="`self.positions` is called as if it were a module. It is a table, with a row for each place.",
        hints=[
            "What does `__init__` put into `self.positions`?",
            "A table is indexed with square brackets. How many rows are needed?",
            "Add `self.positions[: tokens.shape[1]]` to the scaled embeddings.",
        ],
    )


def counted_from_elsewhere(attempt: Code, also: Sequence[Code] = ()) -> Mistake:
    """``positions[1 : n + 1]``, ``positions[-n:]``."""
    return Mistake(
        "counted_from_elsewhere",
        [attempt, *also],
        says="The positions do not begin at 0, where the first token is. Look at which rows are taken.",
        hints=[
            "Which row of the table does the first token get?",
            "A slice without a beginning begins at 0.",
            "`self.positions[: tokens.shape[1]]`.",
        ],
    )


def layers_backwards(attempt: Code) -> Mistake:
    """``for layer in reversed(self.layers)``."""
    return Mistake(
        "layers_backwards",
        [attempt],
        says="The layers are passed in the wrong order: the last one comes first. Look at the loop.",
        hints=[
            "Which layer reads the embeddings?",
            "Newly made, they do the same in any order; parameters loaded from elsewhere do not.",
            "`for layer in self.layers:`.",
        ],
    )
