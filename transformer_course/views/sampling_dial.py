"""The distribution of the next token under temperature, top-k and top-p, and samples drawn from it."""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from matplotlib.figure import Figure
from torch import Tensor
from traitlets import Bool, Int, List, Unicode, observe
from traitlets import Float as Number

from transformer_course.views.view import View, blank
from transformer_lab.generation.sampling import filter_logits
from transformer_lab.inspection.plots import COLOURS

N_DRAWN = 100


class SamplingDial(View):
    """The most probable next tokens, with sliders for temperature, top-k and top-p; below, tokens that were drawn.

    What it shows can be read and set: ``temperature``, ``top_k``, ``top_p``, and ``seed``, of the samples.
    ``probabilities`` and ``drawn`` follow.

    Args:
        logits: Those of one next token.
        tokens: The text of each token, or None for their ids.
        n_shown: Number of tokens to show, the most probable ones; the others are added up.
        temperature: What the logits are divided by.
        top_k: Number of tokens to keep; None keeps all.
        top_p: Of these, the smallest set of so much probability is kept.

    Raises:
        ValueError: The logits are not those of one token or not finite, or there are not as many texts as logits.
        traitlets.TraitError: A trait has a value that it cannot have.

    >>> dial = SamplingDial(torch.tensor([0.5, 0.25, 0.15, 0.1]).log(), list("abcd"), top_p=0.6)
    >>> dial.words()
    'Sampling with temperature 1.00, top-k 4, top-p 0.60: 2 of 4 tokens can be drawn.'
    """

    front_end = "sampling_dial"

    temperature = Number(1.0, min=0.05, max=5.0).tag(sync=True)
    top_k = Int(1, min=1).tag(sync=True)
    top_p = Number(1.0, min=0.01, max=1.0).tag(sync=True)
    seed = Int(0, min=0).tag(sync=True)
    n_tokens = Int().tag(sync=True)
    n_kept = Int().tag(sync=True)
    shown = List(Unicode()).tag(sync=True)
    """The most probable tokens, the most probable first."""
    before = List(Number()).tag(sync=True)
    """Their probabilities as the model has them, and that of all others."""
    probabilities = List(Number()).tag(sync=True)
    """Their probabilities now, and that of all others; 0 for what cannot be drawn."""
    drawn = List(Unicode()).tag(sync=True)
    counts = List(Int()).tag(sync=True)
    """How often each of them was drawn, and all others."""
    can_draw_others = Bool().tag(sync=True)

    def __init__(
        self,
        logits: Float[Tensor, "..."],
        tokens: Sequence[str] | None = None,
        n_shown: int = 12,
        temperature: float = 1.0,
        top_k: int | None = None,
        top_p: float = 1.0,
    ) -> None:
        if logits.ndim != 1 or not len(logits) or not logits.isfinite().all():
            got = f"{tuple(logits.shape)}{'' if logits.isfinite().all() else ', not all finite'}"
            raise ValueError(f"logits must be those of one next token, (vocab_size,), and finite; got {got}")
        if tokens is not None and len(tokens) != len(logits):
            raise ValueError(f"each logit needs the text of its token; got {len(logits)} logits, {len(tokens)} texts")
        self._logits = logits.detach().cpu().float()
        self._texts = [str(i) for i in range(len(logits))] if tokens is None else [*tokens]
        order = self._logits.argsort(descending=True, stable=True)
        self._shown, self._others = order[:n_shown], order[n_shown:]
        super().__init__(
            n_tokens=len(logits),
            shown=[self._texts[i] for i in self._shown.tolist()],
            before=self._of_shown(self._logits.softmax(dim=-1)),
            temperature=temperature,
            top_k=len(logits) if top_k is None else top_k,
            top_p=top_p,
        )
        self._draw()

    def words(self) -> str:
        """Return the settings, and how many tokens can be drawn."""
        settings = f"temperature {self.temperature:.2f}, top-k {self.top_k}, top-p {self.top_p:.2f}"
        return f"Sampling with {settings}: {self.n_kept} of {self.n_tokens} tokens can be drawn."

    def still(self) -> Figure:
        """Return the probabilities before and now, as bars."""
        figure = blank(8.0, 0.5 + 0.28 * len(self.before))
        ax = figure.add_subplot()
        names = [*(repr(text) for text in self.shown), "all others"]
        ax.barh(names, self.before, height=0.8, facecolor="none", edgecolor="black", label="of the model")
        ax.barh(names, self.probabilities, height=0.5, color=COLOURS[0], label="to draw from")
        ax.invert_yaxis()
        ax.set_xlabel("probability")
        ax.legend(loc="center right")
        settings = f"temperature {self.temperature:.2f}, top-k {self.top_k}, top-p {self.top_p:.2f}"
        ax.set_title(f"{settings}: {self.n_kept} of {self.n_tokens} tokens can be drawn", fontsize=10)
        return figure

    @observe("temperature", "top_k", "top_p", "seed")
    def _follow(self, change: object) -> None:
        if self.n_tokens and self.before:  # made by now
            self._draw()

    def _draw(self) -> None:
        """Work out the distribution, and draw from it."""
        logits = filter_logits(self._logits[None], self.temperature, self.top_k, self.top_p)[0]
        probabilities = logits.softmax(dim=-1)
        generator = torch.Generator().manual_seed(self.seed)
        drawn = torch.multinomial(probabilities, N_DRAWN, replacement=True, generator=generator)
        counts = torch.bincount(drawn, minlength=len(probabilities))
        with self.hold_sync():
            self.n_kept = int((logits > -torch.inf).sum())
            self.can_draw_others = bool((logits[self._others] > -torch.inf).any())
            self.probabilities = self._of_shown(probabilities)
            self.counts = [int(count) for count in self._of_shown(counts)]
            self.drawn = [self._texts[i] for i in drawn.tolist()]

    def _of_shown(self, numbers: Tensor) -> list[float]:
        """Return the numbers of the tokens that are shown, and the sum of all others."""
        return [*numbers[self._shown].tolist(), numbers[self._others].sum().item()]
