"""The mask painter: the attention weights under a mask, and the outputs that depend on an input."""

from collections.abc import Sequence
from typing import Any

import torch
from jaxtyping import Bool, Float
from matplotlib.figure import Figure
from torch import Tensor
from traitlets import Bool as Boolean
from traitlets import Float as Number
from traitlets import Integer, List, TraitError, Unicode, validate

from transformer_course import plots
from transformer_course.views.view import View, blank
from transformer_lab.attention.dot_product import masked_softmax

MAX_TOKENS = 16
MAX_LAYERS = 4


class MaskPainter(View):
    """Show a mask for self-attention that you can paint, and the resulting weights.

    If you select an input, all outputs that depend on it through the chosen number of residual layers are highlighted.
    An output before the selected input is a leak.

    Args:
        tokens: The sequence. Presets for padding hide ``<pad>``.
        mask: True where a query may attend to a key; by default, every query may attend to every key.
        scores: The scores before masking; by default, all scores are equal.
        **traits: The initial values of ``source`` and ``layers``.

    Raises:
        ValueError: There are no tokens or more than 16 tokens, or the mask or the scores have a different size.

    >>> painter = MaskPainter(["I", "am", "you"], torch.ones(3, 3, dtype=torch.bool).tril(), source=1)
    >>> painter.reached
    tensor([False,  True,  True])
    >>> print(painter.words())
    Mask painter: I am you; may attend: 100 110 111. Input “am” reaches the outputs at “am” and “you” after 1 layer.
    """

    front_end = "mask_painter"

    tokens = List(Unicode(), help="The tokens of the sequence.").tag(sync=True)
    scores = List(List(Number()), help="Scores before the mask, with a row for each query.").tag(sync=True)
    allowed = List(List(Boolean()), help="The mask, with a row for each query.").tag(sync=True)
    source = Integer(None, allow_none=True, help="Index of the input whose outputs are highlighted, or None.").tag(
        sync=True
    )
    layers = Integer(1, min=1, max=MAX_LAYERS, help="Number of layers with this mask.").tag(sync=True)

    def __init__(
        self,
        tokens: Sequence[str],
        mask: Bool[Tensor, "..."] | None = None,
        scores: Float[Tensor, "..."] | None = None,
        **traits: Any,
    ) -> None:
        n = len(tokens)
        if not 1 <= n <= MAX_TOKENS:
            raise ValueError(f"there must be 1 to {MAX_TOKENS} tokens; got {n}")
        for name, given in (("mask", mask), ("scores", scores)):
            if given is not None and tuple(given.shape) != (n, n):
                raise ValueError(f"for {n} tokens, {name} must have shape ({n}, {n}); got {tuple(given.shape)}")
        mask = torch.ones(n, n, dtype=torch.bool) if mask is None else mask
        scores = torch.zeros(n, n) if scores is None else scores
        if not scores.isfinite().all():
            raise ValueError("scores must be finite; use the mask to hide keys")
        super().__init__(tokens=list(tokens), scores=scores.tolist(), allowed=mask.tolist(), **traits)

    @property
    def mask(self) -> Bool[Tensor, "n n"]:
        """The mask as a tensor. You can also set it."""
        return torch.tensor(self.allowed, dtype=torch.bool)

    @mask.setter
    def mask(self, mask: Bool[Tensor, "n n"]) -> None:
        self.allowed = mask.tolist()

    @property
    def weights(self) -> Float[Tensor, "n n"]:
        """The weights with this mask. If a query may attend to no key, its row is all zeros."""
        return masked_softmax(torch.tensor(self.scores), self.mask)

    @property
    def reached(self) -> Bool[Tensor, " n"]:
        """Whether each output depends on the selected input. All are False if no input is selected."""
        reached = torch.zeros(len(self.tokens), dtype=torch.bool)
        if self.source is not None:
            reached[self.source] = True
            for _ in range(self.layers):
                reached = reached | (self.mask & reached).any(dim=-1)
        return reached

    @validate("allowed")
    def _check_size(self, proposal: dict[str, Any]) -> list[list[bool]]:
        rows, n = proposal["value"], len(self.tokens)
        if [len(row) for row in rows] != [n] * n:
            lengths = [len(row) for row in rows]
            raise TraitError(f"for {n} tokens, the mask must have shape ({n}, {n}); got rows of lengths {lengths}")
        return rows

    @validate("source")
    def _check_source(self, proposal: dict[str, Any]) -> int | None:
        source, n = proposal["value"], len(self.tokens)
        if source is not None and not 0 <= source < n:
            raise TraitError(f"source must be from 0 to {n - 1}; got {source}")
        return source

    def still(self) -> Figure:
        """Return a figure of the mask and the weights, titled with the outputs that the selected input reaches."""
        n = len(self.tokens)
        figure = blank(4.4 + 2 * min(0.45 * n, 4.0), 1.4 + min(0.45 * n, 4.0))
        left, right = (figure.add_subplot(1, 2, i) for i in (1, 2))
        plots.mask(self.mask, self.tokens, self.tokens, left)
        plots.weights(self.weights, self.tokens, self.tokens, right)
        left.set_title("mask")
        right.set_title("weights")
        if self.source is not None:
            figure.suptitle(self._reach(self.source))
        return figure

    def words(self) -> str:
        """Return the mask, row by row, and the outputs that the selected input reaches."""
        rows = " ".join("".join(str(int(is_allowed)) for is_allowed in row) for row in self.allowed)
        sentences = [f"Mask painter: {' '.join(self.tokens)}; may attend: {rows}."]
        if empty := [token for token, row in zip(self.tokens, self.allowed, strict=True) if not any(row)]:
            sentences.append(f"Nothing is left for {_listed(empty)}: the output is zeros.")
        if self.source is not None:
            sentences.append(f"{self._reach(self.source)}.")
        return " ".join(sentences)

    def _reach(self, source: int) -> str:
        reached = self.reached.tolist()
        outputs = [token for token, is_reached in zip(self.tokens, reached, strict=True) if is_reached]
        early = [token for token, is_reached in zip(self.tokens[:source], reached, strict=False) if is_reached]
        layers = "1 layer" if self.layers == 1 else f"{self.layers} layers"
        noun = "outputs" if len(outputs) > 1 else "output"
        leak = f" (leak: {_listed(early)})" if early else ""
        return f"Input {_listed([self.tokens[source]])} reaches the {noun} at {_listed(outputs)} after {layers}{leak}"


def _listed(tokens: Sequence[str]) -> str:
    """Return tokens in quotes, joined with commas and "and"."""
    *before, last = (f"“{token}”" for token in tokens)
    return f"{', '.join(before)} and {last}" if before else last
