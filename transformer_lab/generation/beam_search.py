"""Beam search: extend several candidates at once, because the most probable text may start with an unlikely token."""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from transformer_lab.checks import check_tokens
from transformer_lab.generation.decode import should_compact
from transformer_lab.generation.decoding_state import DecodingState, TranslationState
from transformer_lab.generation.sampling import check_logits
from transformer_lab.models.transformer import Transformer


def length_penalty(length: Tensor, alpha: float) -> Tensor:
    """Return ((5 + length) / 6)^α, which divides a text's log-probability so that short texts do not always win.

    Equation 14 of Wu et al. (2016), arXiv:1609.08144, without the coverage penalty.
    """
    return ((5 + length) / 6) ** alpha


@torch.no_grad()
def beam_search_from_state(
    state: DecodingState,
    tokens: Int[Tensor, "batch n"],
    max_new_tokens: int,
    eos_id: int,
    beam_size: int,
    alpha: float,
) -> tuple[Int[Tensor, "batch n_new"], Float[Tensor, " batch"]]:
    """Run a beam search for each row; return the text with the highest score, and its score.

    The score of a text is its log-probability, including the end token, divided by its ``length_penalty``. A finished
    text stays in the beam as long as its score is among the best. With a beam of 1, this is greedy decoding.

    Args:
        state: The model and its cache.
        tokens: The first tokens of each row.
        max_new_tokens: Maximum number of tokens to add.
        eos_id: The token that ends a text; it also pads finished texts.
        beam_size: Number of candidate texts for each row.
        alpha: Exponent of the length penalty: 0 favors short texts, larger values favor longer texts.

    Returns:
        The new tokens of each row's text, and its score.

    Raises:
        ValueError: ``beam_size`` or ``max_new_tokens`` is less than 1, or the logits do not define a distribution.
    """
    if beam_size < 1 or max_new_tokens < 1:
        raise ValueError(f"beam_size and max_new_tokens must be at least 1; got {beam_size=}, {max_new_tokens=}")
    beams = Beams(len(tokens), tokens.device, beam_size, eos_id, alpha)
    texts = tokens.new_full((len(tokens), max_new_tokens), eos_id)
    scores = torch.full((len(tokens),), -torch.inf, device=tokens.device)
    unfinished = torch.arange(len(tokens), device=tokens.device)  # rows whose search is not finished
    for n in range(1, max_new_tokens + 1):
        logits = state.next_logits(tokens)
        check_logits(logits)
        state.reorder(beams.extend(logits.float()))
        if n == max_new_tokens or (beams.any_finished and should_compact(beams.finished_rows())):
            texts[unfinished, :n], scores[unfinished] = beams.best()
            remaining = (~beams.finished_rows()).nonzero()[:, 0]
            if not len(remaining):
                break
            state.reorder(beams.keep_rows(remaining))
            unfinished = unfinished[remaining]
        tokens = beams.newest
    return texts[:, :n], scores


class Beams:
    """The candidates of a beam search: at first one per row, then ``beam_size`` adjacent candidates per row.

    Until the first text finishes, all texts have the same length, and the work for finished texts is skipped.

    Args:
        n_rows: Number of rows.
        device: Device of the tensors.
        beam_size: Number of candidate texts for each row.
        eos_id: The token that ends a text.
        alpha: Exponent of the length penalty.
    """

    def __init__(self, n_rows: int, device: torch.device, beam_size: int, eos_id: int, alpha: float) -> None:
        self.beam_size, self.eos_id, self.alpha = beam_size, eos_id, alpha
        self.texts = torch.empty(n_rows, 0, dtype=torch.int64, device=device)  # (n_rows · n_beams, n)
        self.log_probability = torch.zeros(n_rows, 1, device=device)  # (n_rows, n_beams)
        self.length = torch.zeros(n_rows, 1, device=device)
        self.finished = torch.zeros(n_rows, 1, dtype=torch.bool, device=device)
        self.any_finished = n_rows == 0  # an empty batch is finished
        self._rows = torch.arange(n_rows, device=device)[:, None]

    def extend(self, logits: Float[Tensor, "texts vocab_size"]) -> Int[Tensor, " new_texts"]:
        """Keep the most probable one-token extensions of the texts; return the index of the text that each extends.

        Args:
            logits: The logits of each text's next token.
        """
        n_rows, n_beams = self.log_probability.shape
        # Only the beam_size most probable tokens of a text can be among the best of all texts.
        log_probabilities, tokens = logits.log_softmax(dim=-1).topk(min(self.beam_size, logits.shape[1]))
        n_tokens = tokens.shape[1]
        log_probabilities, tokens = (x.view(n_rows, n_beams, n_tokens) for x in (log_probabilities, tokens))
        if self.any_finished:
            log_probabilities, tokens = self._only_eos_if_finished(log_probabilities, tokens)
            self.length = self.length + ~self.finished
        totals = self.log_probability[..., None] + log_probabilities
        # The length penalty does not change the ranking of texts with the same length.
        ranks = totals / length_penalty(self.length, self.alpha)[..., None] if self.any_finished else totals
        best_ranks, best = ranks.flatten(1).topk(min(self.beam_size, n_beams * n_tokens))
        beam, next_tokens = best // n_tokens, tokens.flatten(1).gather(1, best)
        continued = torch.add(beam, self._rows, alpha=n_beams).flatten()
        self.newest = next_tokens.view(-1, 1)
        self.texts = torch.cat([self.texts.index_select(0, continued), self.newest], dim=1)
        self.log_probability = totals.flatten(1).gather(1, best) if self.any_finished else best_ranks
        if self.any_finished:
            self.length = self.length.gather(1, beam)
            self.finished = self.finished.gather(1, beam) | (next_tokens == self.eos_id)
        elif self.eos_id in next_tokens.flatten().tolist():
            self.any_finished = True
            self.finished = next_tokens == self.eos_id
            self.length = torch.full_like(self.log_probability, self.texts.shape[1])
        return continued

    def _only_eos_if_finished(
        self,
        log_probabilities: Float[Tensor, "n_rows n_beams n_tokens"],
        tokens: Int[Tensor, "n_rows n_beams n_tokens"],
    ) -> tuple[Float[Tensor, "n_rows n_beams n_tokens"], Int[Tensor, "n_rows n_beams n_tokens"]]:
        """Let each finished text continue only with ``eos_id``, in a single candidate with probability 1."""
        finished = self.finished[..., None]
        first = torch.arange(tokens.shape[2], device=tokens.device) == 0
        log_probabilities = log_probabilities.masked_fill(finished, -torch.inf).masked_fill(finished & first, 0.0)
        return log_probabilities, tokens.masked_fill(finished, self.eos_id)

    def finished_rows(self) -> Bool[Tensor, " n_rows"]:
        """Return True for each row whose texts have all finished."""
        return self.finished.all(dim=1)

    def best(self) -> tuple[Int[Tensor, "n_rows n_new"], Float[Tensor, " n_rows"]]:
        """Return the text with the highest score in each row, and its score."""
        n_rows, n_beams = self.log_probability.shape
        length = self.length if self.any_finished else torch.full_like(self.log_probability, self.texts.shape[1])
        scores, best = (self.log_probability / length_penalty(length, self.alpha)).max(dim=1)
        texts = self.texts.view(n_rows, n_beams, self.texts.shape[1])
        return texts[self._rows[:, 0], best], scores

    def keep_rows(self, rows: Int[Tensor, " kept"]) -> Int[Tensor, " kept_texts"]:
        """Keep only these rows; return the indices of the remaining texts."""
        kept = torch.arange(len(self.texts), device=rows.device).view_as(self.log_probability)[rows].flatten()
        self.texts, self.newest, self.log_probability = self.texts[kept], self.newest[kept], self.log_probability[rows]
        self.length, self.finished, self._rows = self.length[rows], self.finished[rows], self._rows[: len(rows)]
        return kept


@torch.no_grad()
def beam_search(
    model: Transformer,
    source: Int[Tensor, "batch n_source"],
    bos_id: int,
    eos_id: int,
    max_length: int,
    beam_size: int,
    alpha: float = 1.0,
) -> Int[Tensor, "batch n"]:
    """Translate with a beam search; see ``beam_search_from_state`` and ``greedy_decode`` for arguments and errors."""
    check_tokens(source)
    begin = torch.full((len(source), 1), bos_id, device=source.device)
    state = TranslationState(model, source, max_length)
    return beam_search_from_state(state, begin, max_length, eos_id, beam_size, alpha)[0]
