"""Decoding: from a model that says what may come next to a text.

A ``Writer`` is a model in the middle of writing: it takes the newest tokens and says what may come next, and keeps
the rest in a cache. ``write`` lets it go on token by token.
"""

from collections.abc import Iterator

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from transformer_lab.generation.decoding_state import TextWriter, TranslationWriter, Writer
from transformer_lab.generation.sampling import Choose, chooser, likeliest
from transformer_lab.models.language_model import LanguageModel
from transformer_lab.models.transformer import Transformer


def write(
    writer: Writer, tokens: Int[Tensor, "rows n"], max_new_tokens: int, choose: Choose, eos_id: int | None = None
) -> Iterator[Int[Tensor, " rows"]]:
    """Write one token after another in all the rows, and hand each over as soon as it is there.

    Args:
        writer: What writes.
        tokens: What it begins with.
        max_new_tokens: How many tokens are written at most.
        choose: Decides what comes next.
        eos_id: The token that ends a row: after it only it follows, and when all rows have ended, nothing. The writer
            need not go on with rows that have ended.
    """
    rows = torch.arange(len(tokens), device=tokens.device)  # those that the writer still goes on with
    ended = torch.zeros(len(tokens), dtype=torch.bool, device=tokens.device)
    for _ in range(max_new_tokens):
        with torch.no_grad():  # not around the loop: it would also hold while we wait to be asked for more
            chosen = choose(writer(tokens))
        if eos_id is None:
            yield chosen
        else:
            chosen = torch.where(ended[rows], eos_id, chosen)
            ended[rows] = chosen == eos_id
            yield torch.full_like(ended, eos_id, dtype=chosen.dtype).index_copy(0, rows, chosen)
            if half_ended(ended[rows]):
                going = (~ended[rows]).nonzero()[:, 0]
                if not len(going):
                    return
                writer.reorder(going)
                rows, chosen = rows[going], chosen[going]
        tokens = chosen[:, None]


def half_ended(ended: Bool[Tensor, " rows"]) -> bool:
    """Say whether it is time to put aside the rows that have ended: to drop them costs a copy of all the others."""
    return bool(2 * ended.sum() >= len(ended))


@torch.no_grad()
def greedy_decode(
    model: Transformer, source: Int[Tensor, "batch n_source"], bos_id: int, eos_id: int, max_length: int
) -> Int[Tensor, "batch n"]:
    """Write the likeliest next token, again and again, until every sentence has ended.

    Args:
        model: It is used as it stands: call ``model.eval()`` first.
        source: The sentences to translate.
        bos_id: The token that begins a sentence; it is not part of the output.
        eos_id: The token that ends one; after it only it follows.
        max_length: How many tokens are written at most.

    Raises:
        ValueError: The model cannot write so much, or cannot read the source.
    """
    begin = torch.full((len(source), 1), bos_id, device=source.device)
    writer = TranslationWriter(model, source, max_length)
    return torch.stack(list(write(writer, begin, max_length, likeliest, eos_id)), dim=1)


@torch.no_grad()
def generate(
    model: LanguageModel,
    tokens: Int[Tensor, "batch n"],
    max_new_tokens: int,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    eos_id: int | None = None,
    generator: torch.Generator | None = None,
) -> Int[Tensor, "batch n_all"]:
    """Go on with texts, drawing each next token from what the model says.

    Args:
        model: It is used as it stands: call ``model.eval()`` first.
        tokens: The texts to go on with; shorter ones are padded, on either side.
        max_new_tokens: How many tokens are added at most.
        temperature: As in ``restrict``; at 0 the likeliest token is taken.
        top_k: As in ``restrict``.
        top_p: As in ``restrict``.
        eos_id: The token that ends a text.
        generator: Where chance comes from.

    Returns:
        The texts, padding included, and what was added to each.

    Raises:
        ValueError: The model cannot take so many tokens.
    """
    writer = TextWriter(model, tokens.shape[1] + max_new_tokens - 1)
    added = write(writer, tokens, max_new_tokens, chooser(temperature, top_k, top_p, generator), eos_id)
    return torch.cat([tokens, *(column[:, None] for column in added)], dim=1)
