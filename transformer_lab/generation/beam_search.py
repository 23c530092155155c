"""Beam search: follow several texts at once, because the most probable token need not begin the most probable text."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from transformer_lab.generation.decode import should_compact
from transformer_lab.generation.decoding_state import DecodingState, TranslationState
from transformer_lab.generation.penalties import PenalisedState, Penalties
from transformer_lab.models.transformer import Transformer


def length_penalty(length: Tensor, alpha: float) -> Tensor:
    """Return ((5 + length) / 6)^α, which divides the log-probability of a text so that short ones do not always win.

    Equation 14 of Wu et al. (2016), arXiv:1609.08144, without its other term.
    """
    return ((5 + length) / 6) ** alpha


@torch.no_grad()
def n_best_from_state(
    state: DecodingState,
    tokens: Int[Tensor, "batch n"],
    max_new_tokens: int,
    eos_id: int,
    beam_size: int,
    alpha: float,
    n_best: int,
) -> tuple[Int[Tensor, "batch n_best n_new"], Float[Tensor, "batch n_best"]]:
    """Return, for each row, the texts of the highest scores that a beam search finds, best first, and those scores.

    The score of a text is its log-probability over its ``length_penalty``; the token that ends it counts. A text that
    has finished keeps its place in the beam for as long as its score is among the best. With a beam of 1 this is greedy
    decoding.

    Args:
        state: The model and its cache.
        tokens: The first tokens of each row.
        max_new_tokens: Maximum number of tokens added.
        eos_id: The token that ends a text; after it only it follows.
        beam_size: Number of texts followed in each row.
        alpha: Exponent of the length penalty: 0 prefers short texts, larger values longer ones.
        n_best: Number of texts that are returned for each row.

    Returns:
        The new tokens of each row's texts, and their scores; −∞ where there are fewer texts than ``n_best``.

    Raises:
        ValueError: ``beam_size`` or ``max_new_tokens`` is below 1, or ``n_best`` is not between 1 and ``beam_size``.
    """
    if beam_size < 1 or max_new_tokens < 1:
        raise ValueError(f"beam_size and max_new_tokens must be at least 1; got {beam_size=}, {max_new_tokens=}")
    if not 1 <= n_best <= beam_size:
        raise ValueError(f"n_best must be between 1 and beam_size; got {n_best=}, {beam_size=}")
    batch = len(tokens)
    texts = tokens.new_full((batch, n_best, max_new_tokens), eos_id)
    scores = torch.full((batch, n_best), -torch.inf, device=tokens.device)
    active = torch.arange(batch, device=tokens.device)  # the rows that are still in the state
    row = torch.arange(batch, device=tokens.device)[:, None]
    # One text in each row at first, then beam_size of them; those of a row follow each other.
    beams = tokens.new_empty(batch, 0)
    total = torch.zeros(batch, 1, device=tokens.device)  # log-probability
    length = torch.zeros(batch, 1, device=tokens.device)
    finished, some_finished = torch.zeros(batch, 1, dtype=torch.bool, device=tokens.device), not batch
    for n in range(1, max_new_tokens + 1):
        n_beams = total.shape[1]
        logits = state.next_logits(tokens).float()
        # Of one text, only its beam_size most probable tokens can be among the best of all.
        steps, choices = logits.log_softmax(dim=-1).topk(min(beam_size, logits.shape[1]))
        steps, choices = (x.view(*total.shape, x.shape[1]) for x in (steps, choices))
        if some_finished:  # such a text continues with eos_id only
            first = torch.arange(steps.shape[2], device=tokens.device) == 0
            steps = steps.masked_fill(finished[..., None], -torch.inf).masked_fill(finished[..., None] & first, 0.0)
            choices = choices.masked_fill(finished[..., None], eos_id)
            length = length + ~finished
        totals = total[..., None] + steps
        ranks = totals / length_penalty(length, alpha)[..., None] if some_finished else totals  # else all are as long
        ranked, best = ranks.flatten(1).topk(min(beam_size, n_beams * ranks.shape[2]))
        total = totals.flatten(1).gather(1, best) if some_finished else ranked
        beam, next_tokens = best // choices.shape[2], choices.flatten(1).gather(1, best)
        rows = torch.add(beam, row, alpha=n_beams).flatten()
        state.reorder(rows)
        tokens = next_tokens.view(-1, 1)
        beams = torch.cat([beams.index_select(0, rows), tokens], dim=1)
        if some_finished:
            length, finished = length.gather(1, beam), finished.gather(1, beam) | (next_tokens == eos_id)
        elif n == max_new_tokens or eos_id in tokens.flatten().tolist():
            length, finished, some_finished = torch.full_like(total, n), next_tokens == eos_id, True
        if n == max_new_tokens or (some_finished and should_compact(finished.all(dim=1))):
            ranked, winners = (total / length_penalty(length, alpha)).topk(min(n_best, total.shape[1]), dim=1)
            scores[active, : winners.shape[1]] = ranked
            texts[active, : winners.shape[1], :n] = beams.view(*total.shape, n)[row, winners]
            unfinished = (~finished.all(dim=1)).nonzero()[:, 0]
            if not len(unfinished):
                break
            left = torch.arange(len(beams), device=tokens.device).view_as(total)[unfinished].flatten()
            state.reorder(left)
            row, beams, tokens = row[: len(unfinished)], beams[left], tokens[left]
            active, total, length, finished = (x[unfinished] for x in (active, total, length, finished))
    return texts[:, :, :n], scores


def beam_search_from_state(
    state: DecodingState,
    tokens: Int[Tensor, "batch n"],
    max_new_tokens: int,
    eos_id: int,
    beam_size: int,
    alpha: float,
) -> tuple[Int[Tensor, "batch n_new"], Float[Tensor, " batch"]]:
    """Return the best text of each row, and its score; arguments and errors as in ``n_best_from_state``."""
    texts, scores = n_best_from_state(state, tokens, max_new_tokens, eos_id, beam_size, alpha, n_best=1)
    return texts[:, 0], scores[:, 0]


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
    """Translate by ``n_best_from_state``; arguments and errors as there and in ``greedy_decode``."""
    return beam_search_n_best(model, source, bos_id, eos_id, max_length, beam_size, alpha)[0][:, 0]


@torch.no_grad()
def beam_search_n_best(
    model: Transformer,
    source: Int[Tensor, "batch n_source"],
    bos_id: int,
    eos_id: int,
    max_length: int,
    beam_size: int,
    alpha: float = 1.0,
    n_best: int = 1,
    penalties: Penalties | None = None,
) -> tuple[Int[Tensor, "batch n_best n"], Float[Tensor, "batch n_best"]]:
    """Return the best translations and their scores; arguments and errors as in ``n_best_from_state``.

    With ``penalties``, what the model says of a token is penalised for what its translation has so far, and the scores
    are log-probabilities under the penalised distribution. The source is not penalised: names are to be copied.
    """
    begin = torch.full((len(source), 1), bos_id, device=source.device)
    state: DecodingState = TranslationState(model, source, max_length)
    if penalties is not None:
        state = PenalisedState(state, penalties)
    return n_best_from_state(state, begin, max_length, eos_id, beam_size, alpha, n_best)
