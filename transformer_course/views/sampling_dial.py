"""The sampling dial: the distribution of the next token under temperature, top-k and top-p, with samples."""

from collections.abc import Iterator, Sequence

import torch
from jaxtyping import Float
from matplotlib.figure import Figure
from torch import Tensor
from traitlets import Float as Number
from traitlets import Int, List, Unicode

from transformer_course.plots import COLORS, INK
from transformer_course.views.view import View, blank
from transformer_lab.generation.sampling import filter_logits

N_DRAWN = 100


class SamplingDial(View):
    """Show the most probable next tokens and some samples, with sliders for temperature, top-k and top-p.

    You can read and set ``temperature``, ``top_k``, ``top_p`` and the ``seed`` of the samples. These settings determine
    ``probabilities`` (in the order of ``tokens``, most probable first) and the samples in ``drawn``.

    Args:
        logits: The logits at a single position.
        tokens: The text of each token; by default, the token ids are shown.
        n_shown: Number of most probable tokens to show. The probabilities of all other tokens are summed.
        temperature: The divisor of the logits.
        top_k: Number of tokens to keep; by default, all tokens are kept.
        top_p: Keep the smallest set of the remaining tokens whose total probability is at least ``top_p``.

    Raises:
        ValueError: The logits are not finite or not one-dimensional, or the numbers of texts and logits differ.
        traitlets.TraitError: The value of a trait is invalid.

    >>> dial = SamplingDial(torch.tensor([0.5, 0.25, 0.15, 0.1]).log(), list("abcd"), top_p=0.6)
    >>> dial.words()
    'Sampling with temperature 1.00, top-k 4, top-p 0.60: 2 of 4 tokens can be drawn.'
    """

    front_end = "sampling_dial"

    temperature = Number(1.0, min=0.05, max=5.0).tag(sync=True)
    top_k = Int(1, min=1).tag(sync=True)
    top_p = Number(1.0, min=0.01, max=1.0).tag(sync=True)
    seed = Int(0, min=0).tag(sync=True)
    tokens = List(Unicode()).tag(sync=True)
    logits = List(Number()).tag(sync=True)
    n_shown = Int(12, min=1).tag(sync=True)

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
            raise ValueError(f"logits must be finite and have shape (vocab_size,), for a single position; got {got}")
        if tokens is not None and len(tokens) != len(logits):
            raise ValueError(f"tokens must have one entry per logit; got {len(logits)} logits and {len(tokens)} tokens")
        ranked, order = logits.detach().cpu().float().sort(descending=True, stable=True)
        super().__init__(
            tokens=[str(i) if tokens is None else tokens[i] for i in order.tolist()],
            logits=[round(logit, 4) for logit in ranked.tolist()],
            n_shown=min(n_shown, len(logits)),
            temperature=temperature,
            top_k=len(logits) if top_k is None else top_k,
            top_p=top_p,
        )

    @property
    def probabilities(self) -> Float[Tensor, " vocab_size"]:
        """The current probability of each token, which is 0 for tokens that cannot be drawn."""
        logits = torch.tensor([self.logits], dtype=torch.float64)
        return filter_logits(logits, self.temperature, self.top_k, self.top_p)[0].softmax(dim=-1)

    @property
    def drawn(self) -> list[str]:
        """The samples, which depend only on the seed and the probabilities."""
        cumulative = self.probabilities.cumsum(dim=0)
        numbers = torch.tensor(list(_uniform(self.seed, N_DRAWN)), dtype=torch.float64)
        indices = torch.searchsorted(cumulative, numbers, right=True).clamp(max=self.n_kept - 1)
        return [self.tokens[i] for i in indices.tolist()]

    @property
    def n_kept(self) -> int:
        """Number of tokens that can be drawn."""
        return int((self.probabilities > 0).sum())

    def words(self) -> str:
        """Return the settings and the number of tokens that can be drawn."""
        settings = f"temperature {self.temperature:.2f}, top-k {self.top_k}, top-p {self.top_p:.2f}"
        return f"Sampling with {settings}: {self.n_kept} of {len(self.tokens)} tokens can be drawn."

    def still(self) -> Figure:
        """Return a bar chart of the probabilities before and after applying the settings."""
        figure = blank(8.0, 0.8 + 0.28 * self.n_shown)
        ax = figure.add_subplot()
        names = [*(repr(text) for text in self.tokens[: self.n_shown]), "all others"]
        before = torch.tensor(self.logits).softmax(dim=-1)
        ax.barh(names, self._rows(before), height=0.8, facecolor="none", edgecolor=INK, label="of the model")
        ax.barh(names, self._rows(self.probabilities), height=0.5, color=COLORS[0], label="to draw from")
        ax.invert_yaxis()
        ax.set_xlabel("probability")
        ax.legend(loc="center right")
        ax.set_title(self.words().removeprefix("Sampling with ").removesuffix("."), fontsize=10)
        return figure

    def _rows(self, numbers: Tensor) -> list[float]:
        """Return the numbers of the tokens to show, and the sum over all other tokens."""
        return [*numbers[: self.n_shown].tolist(), numbers[self.n_shown :].sum().item()]


def _uniform(seed: int, n: int) -> Iterator[float]:
    """Yield n random numbers between 0 and 1 from the generator mulberry32, which the front end also implements."""
    low_32_bits = 2**32 - 1
    for _ in range(n):
        seed = (seed + 0x6D2B79F5) & low_32_bits
        mixed = (seed ^ seed >> 15) * (seed | 1) & low_32_bits
        mixed ^= (mixed + ((mixed ^ mixed >> 7) * (mixed | 61))) & low_32_bits
        yield (mixed ^ mixed >> 14) / 2**32
