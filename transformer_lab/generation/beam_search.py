"""Beam search: follow several texts at once, because the likeliest next token need not begin the likeliest text."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from transformer_lab.generation.decode import half_ended
from transformer_lab.generation.decoding_state import TranslationWriter, Writer
from transformer_lab.models.transformer import Transformer


def penalty(length: Tensor, alpha: float) -> Tensor:
    """Give what a log-probability is divided by, lest short texts always win: ((5 + length) / 6)^α.

    Equation 14 of Wu et al. (2016), arXiv:1609.08144, without its other term.
    """
    return ((5 + length) / 6) ** alpha


@torch.no_grad()
def search(
    writer: Writer,
    tokens: Int[Tensor, "batch n"],
    max_new_tokens: int,
    eos_id: int,
    beam_size: int,
    length_penalty: float,
) -> tuple[Int[Tensor, "batch n_new"], Float[Tensor, " batch"]]:
    """Write, in each row, the text of the highest score among those that a beam of several comes across.

    The score of a text is its log-probability over ``penalty``; the token that ends it counts. A text that has ended
    keeps its place in the beam for as long as its score is among the best. With a beam of 1 that is greedy decoding.

    Args:
        writer: What writes.
        tokens: What it begins with.
        max_new_tokens: How many tokens are written at most.
        eos_id: The token that ends a text; after it only it follows.
        beam_size: How many texts are followed in each row.
        length_penalty: α; 0 prefers short texts, larger values longer ones.

    Returns:
        What was written in each row, and its score.

    Raises:
        ValueError: The beam is empty, or nothing may be written.
    """
    if beam_size < 1 or max_new_tokens < 1:
        raise ValueError(f"needed are beam_size ≥ 1, max_new_tokens ≥ 1; got {beam_size=}, {max_new_tokens=}")
    batch = len(tokens)
    texts = tokens.new_full((batch, max_new_tokens), eos_id)
    scores = torch.zeros(batch, device=tokens.device)
    rows = torch.arange(batch, device=tokens.device)  # those that have not ended
    # One text in each row at first, then beam_size of them.
    written = tokens.new_empty(batch, 1, 0)
    total = torch.zeros(batch, 1, device=tokens.device)  # log-probability
    length = torch.zeros(batch, 1, device=tokens.device)
    ended = torch.zeros(batch, 1, dtype=torch.bool, device=tokens.device)
    for n in range(1, max_new_tokens + 1):
        logits = writer(tokens).float()
        steps = logits.log_softmax(dim=-1).view(len(rows), -1, logits.shape[-1])
        steps = steps.masked_fill(ended[..., None], -torch.inf)
        steps[..., eos_id].masked_fill_(ended, 0.0)  # a text that has ended goes on with nothing but its end
        totals, lengths = total[..., None] + steps, length + ~ended
        ranks = totals / penalty(lengths, length_penalty)[..., None]
        n_beams, vocab_size = ranks.shape[1:]
        best = ranks.flatten(1).topk(min(beam_size, n_beams * vocab_size)).indices
        beam, token = best // vocab_size, best % vocab_size
        total = totals.flatten(1).gather(1, best)
        length, ended = lengths.gather(1, beam), ended.gather(1, beam) | (token == eos_id)
        first = torch.arange(len(rows), device=tokens.device)
        written = torch.cat([written[first[:, None], beam], token[..., None]], dim=2)
        writer.reorder((first[:, None] * n_beams + beam).flatten())
        if n == max_new_tokens or half_ended(ended.all(dim=1)):
            scores[rows], likeliest = (total / penalty(length, length_penalty)).max(dim=1)
            texts[rows, :n] = written[first, likeliest]
            going = (~ended.all(dim=1)).nonzero()[:, 0]
            if not len(going):
                break
            writer.reorder(torch.arange(beam.numel(), device=tokens.device).view_as(beam)[going].flatten())
            rows, written, total, length, ended = (x[going] for x in (rows, written, total, length, ended))
        tokens = written[:, :, -1].flatten()[:, None]
    return texts[:, :n], scores


def beam_search(
    model: Transformer,
    source: Int[Tensor, "batch n_source"],
    bos_id: int,
    eos_id: int,
    max_length: int,
    beam_size: int,
    length_penalty: float = 1.0,
) -> Int[Tensor, "batch n"]:
    """Translate by ``search``; arguments and errors as there and in ``greedy_decode``."""
    begin = torch.full((len(source), 1), bos_id, device=source.device)
    writer = TranslationWriter(model, source, max_length)
    return search(writer, begin, max_length, eos_id, beam_size, length_penalty)[0]
