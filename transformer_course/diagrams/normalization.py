"""Draw the numbers of a (batch, n, d_model) tensor over which a norm averages, as measured by gradients."""

from collections.abc import Callable, Mapping, Sequence

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from transformer_course.diagrams.canvas import Diagram
from transformer_course.diagrams.elements import CHIP_FILL, FONT_SIZE_PT, GRAY

Norm = Callable[[Float[Tensor, "batch n d_model"]], Float[Tensor, "batch n d_model"]]
Corner = tuple[float, float]

CELL_SIZE = 0.34
SENTENCE_OFFSET = (0.17, 0.13)
"""The offset, to the right and up, of each sentence behind the previous sentence."""


def blocks(norms: Mapping[str, Norm]) -> Diagram:
    """Draw a block of numbers for each norm. The number with the dot depends on the dark numbers.

    Features run from left to right, positions from top to bottom, and sentences from front to back. The dot is on the
    last feature of the second position of the first sentence. Its gradient with respect to the input is nonzero for the
    dark numbers, so the drawing shows what a learner's norm really does.

    Args:
        norms: The norms by name. Each is called with a tensor of shape (3, 4, 5).
    """
    letters, batch, d_model = ("m", "a", "i", "pad"), 3, 5
    d = Diagram(
        "A block of numbers for each norm, features across, positions down, sentences into the depth. Dark is what the "
        "normalized number with the dot depends on: "
        + "; ".join(f"{name}: {_in_words(reach(norm, batch, len(letters), d_model))}" for name, norm in norms.items())
        + "."
    )
    for i, (name, norm) in enumerate(norms.items()):
        chosen = reach(norm, batch, len(letters), d_model)
        _block(d, 3.6 * i, name, letters, chosen)
    return d


def reach(norm: Norm, batch: int, n: int, d_model: int) -> Bool[Tensor, "{batch} {n} {d_model}"]:
    """Return the numbers that affect the last feature at the second position of the first sentence, by gradient."""
    x = torch.randn(batch, n, d_model, generator=torch.Generator().manual_seed(0)).requires_grad_()
    [gradient] = torch.autograd.grad(norm(x)[0, 1, -1], x)
    return gradient != 0


def _in_words(chosen: Bool[Tensor, "batch n d_model"]) -> str:
    counts = [int(chosen.flatten(0, 1).any(0).sum()), *(int(chosen.any(2).sum(i).max()) for i in (1, 0))]
    of = ("features", "positions", "sentences")
    return ", ".join(f"{n} of {size} {what}" for n, size, what in zip(counts, reversed(chosen.shape), of, strict=True))


def _block(d: Diagram, x0: float, name: str, letters: Sequence[str], chosen: Bool[Tensor, "batch n d_model"]) -> None:
    batch, n, d_model = chosen.shape
    right, behind, above = (CELL_SIZE, 0.0), SENTENCE_OFFSET, (0.0, CELL_SIZE)

    def corner(sentence: int, position: int, feature: int) -> Corner:
        """Return the lower left front corner of a cell. The corner of the whole block is (x0, 0)."""
        return x0 + feature * CELL_SIZE + sentence * SENTENCE_OFFSET[0], (
            n - 1 - position
        ) * CELL_SIZE + sentence * SENTENCE_OFFSET[1]

    def face(at: Corner, one: Corner, other: Corner, dark: bool, pale: bool = False) -> None:
        points = [at, _sum(at, one), _sum(at, one, other), _sum(at, other)]
        d.polygon(points, GRAY if dark or pale else "#FFFFFF", pale=not dark)

    for sentence in reversed(range(batch)):
        for feature in range(d_model):
            at = _sum(corner(sentence, 0, feature), above)
            face(at, right, behind, bool(chosen[sentence, 0, feature]))
        for position in range(n):
            at = _sum(corner(sentence, position, d_model - 1), right)
            face(at, behind, above, bool(chosen[sentence, position, -1]))
    for position, letter in enumerate(letters):
        for feature in range(d_model):
            face(corner(0, position, feature), right, above, bool(chosen[0, position, feature]), letter == "pad")
        d.text(letter, (x0 - 0.08, (n - 0.5 - position) * CELL_SIZE), align="right")
    x, y = corner(0, 1, d_model - 1)
    d.circle((x + CELL_SIZE / 2, y + CELL_SIZE / 2), 0.06, CHIP_FILL, CHIP_FILL)  # a white dot would be transparent
    d.text("d_model", (x0 + d_model * CELL_SIZE / 2, -0.14))
    d.text("n", (x0 - 0.5, n * CELL_SIZE / 2))
    d.text(
        "batch",
        (x0 + d_model * CELL_SIZE + batch * SENTENCE_OFFSET[0] / 2 + 0.14, batch * SENTENCE_OFFSET[1] / 2 - 0.1),
        align="left",
    )
    d.text(
        name,
        (x0 + (d_model * CELL_SIZE + batch * SENTENCE_OFFSET[0]) / 2, n * CELL_SIZE + batch * SENTENCE_OFFSET[1] + 0.2),
        FONT_SIZE_PT + 1,
        bold=True,
    )


def _sum(*points: Corner) -> Corner:
    return sum(x for x, _ in points), sum(y for _, y in points)
