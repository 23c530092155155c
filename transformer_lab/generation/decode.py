"""Decoding: from a model's logits to token ids.

``generate_steps`` is the loop: it gets the logits of the next token from a ``DecodingState``, samples a token, and
continues with that token. ``greedy_decode`` uses this loop to translate, and ``generate`` uses it to continue texts.
"""

from collections.abc import Iterator
from contextlib import nullcontext
from typing import cast

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from transformer_lab.checks import check_not_negative, check_tokens
from transformer_lab.generation.decoding_state import DecodingState, TextState, TranslationState
from transformer_lab.generation.repetition_penalty import PenalizedState
from transformer_lab.generation.sampling import Sampler, check_logits, greedy, make_sampler
from transformer_lab.models.language_model import LanguageModel
from transformer_lab.models.transformer import Transformer


def generate_steps(
    state: DecodingState,
    tokens: Int[Tensor, "rows n"],
    max_new_tokens: int,
    sample: Sampler,
    eos_id: int | None = None,
) -> Iterator[Int[Tensor, " rows"]]:
    """Yield the next token of every row as soon as it is sampled, one step at a time.

    Args:
        state: The model and its cache.
        tokens: The first tokens of each row.
        max_new_tokens: Maximum number of steps.
        sample: Chooses the next tokens from their logits.
        eos_id: The token that ends a row; it also pads finished rows. Generation stops when every row has finished.
            Finished rows are dropped from the state when ``should_compact`` returns True.

    Raises:
        ValueError: A row of logits does not define a distribution, for example because a parameter of the model is NaN.
    """
    n_rows, active = len(tokens), None  # rows still in the state; None means all
    finished = None  # True for finished rows in the state; None means no row
    for _ in range(max_new_tokens):
        # If no_grad surrounded the whole loop, it would stay in effect while this generator is suspended.
        with torch.no_grad() if torch.is_grad_enabled() else nullcontext():
            logits = state.next_logits(tokens)
            check_logits(logits)
            next_tokens = sample(logits)
        if eos_id is None:
            yield next_tokens
        else:
            if finished is not None:
                next_tokens = next_tokens.masked_fill(finished, eos_id)
            yield (
                next_tokens
                if active is None
                else next_tokens.new_full((n_rows,), eos_id).index_copy(0, active, next_tokens)
            )
            if not n_rows or eos_id in next_tokens.tolist():
                finished = next_tokens == eos_id
                if should_compact(finished):
                    unfinished = (~finished).nonzero()[:, 0]
                    if not len(unfinished):
                        return
                    state.reorder(unfinished)
                    active = unfinished if active is None else active[unfinished]
                    next_tokens, finished = next_tokens[unfinished], None
        tokens = next_tokens[:, None]


def should_compact(finished: Bool[Tensor, " rows"]) -> bool:
    """Return whether at least half of the rows have finished, so that dropping these rows saves time overall."""
    return 2 * int(finished.count_nonzero()) >= len(finished)


@torch.no_grad()
def greedy_decode(
    model: Transformer, source: Int[Tensor, "batch n_source"], bos_id: int, eos_id: int, max_length: int
) -> Int[Tensor, "batch n"]:
    """Translate by repeatedly appending the most probable token until every sentence has ended.

    Args:
        model: The model, which is not switched to evaluation mode: call ``model.eval()`` first.
        source: The sentences to translate.
        bos_id: The token that begins a sentence; it is not part of the output.
        eos_id: The token that ends a sentence; it also pads finished sentences.
        max_length: Maximum number of tokens in a translation.

    Raises:
        ValueError: ``max_length`` is not between 1 and the model's maximum, the source is invalid, or the logits do not
            define a distribution.
        TypeError: ``source`` is not a tensor.
    """
    check_tokens(source)
    begin = torch.full((len(source), 1), bos_id, device=source.device)
    state = TranslationState(model, source, max_length)
    return torch.stack(list(generate_steps(state, begin, max_length, greedy, eos_id)), dim=1)


@torch.no_grad()
def generate(
    model: LanguageModel | Transformer,
    tokens: Int[Tensor, "batch n"],
    max_new_tokens: int,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    eos_id: int | None = None,
    generator: torch.Generator | None = None,
    min_p: float | None = None,
    repetition_penalty: float = 1.0,
    source: Int[Tensor, "batch n_source"] | None = None,
) -> Int[Tensor, "batch n_all"]:
    """Continue each text, sampling one token at a time.

    Args:
        model: The model, which is not switched to evaluation mode: call ``model.eval()`` first.
        tokens: The texts to continue, padded on either side. For a ``Transformer``, the targets so far, without padding
            and with at least the token that begins a sentence.
        max_new_tokens: Maximum number of tokens added to each text; with 0, the texts are returned unchanged.
        temperature: As in ``filter_logits``; 0 always picks the most probable token.
        top_k: As in ``filter_logits``.
        top_p: As in ``filter_logits``.
        eos_id: The token that ends a text.
        generator: Random number generator.
        min_p: As in ``filter_logits``.
        repetition_penalty: As in ``penalize_repetition``; 1 means no penalty.
        source: The sentences that a ``Transformer`` translates.

    Returns:
        The texts, including padding, each followed by its new tokens.

    Raises:
        ValueError: ``max_new_tokens`` is negative, the texts would exceed the model's maximum length, the sampling
            options are invalid, the logits do not define a distribution, ``repetition_penalty`` is not a finite number
            above 0, or ``source`` is missing for a ``Transformer`` or given for a different model.
        TypeError: ``tokens`` or ``source`` is not a tensor.
    """
    check_tokens(tokens)
    if source is not None:
        check_tokens(source)
        if source.device != tokens.device:
            raise ValueError(f"source and tokens must be on the same device; got {source.device} and {tokens.device}")
    check_not_negative(max_new_tokens=max_new_tokens)
    sample = make_sampler(temperature, top_k, top_p, generator, min_p)
    if max_new_tokens == 0:
        return tokens.clone()
    n_read = tokens.shape[1] + max_new_tokens - 1  # the last new token is never read
    state = text_state(model, n_read, repetition_penalty, source)
    steps = generate_steps(state, tokens, max_new_tokens, sample, eos_id)
    return torch.cat([tokens, *(next_tokens[:, None] for next_tokens in steps)], dim=1)


def text_state(
    model: LanguageModel | Transformer,
    max_length: int,
    repetition_penalty: float = 1.0,
    source: Int[Tensor, "batch n_source"] | None = None,
) -> DecodingState:
    """Return a state for up to ``max_length`` tokens; penalty and source are as in ``generate``.

    Raises:
        ValueError: ``max_length`` is not between 1 and the model's maximum, the penalty is not a finite number above 0,
            or the source is missing for a ``Transformer`` or given for a different model.
    """
    translates = hasattr(model, "encode")  # isinstance would fail, because torch.compile hides the class
    if translates != (source is not None):
        needs = "is required for a Transformer, which translates it" if translates else "is only for a Transformer"
        raise ValueError(f"source {needs}; got {type(model).__name__}, source={source}")
    state: DecodingState
    if source is None:
        language_model = cast("LanguageModel", model)
        state, pad_id = TextState(language_model, max_length), language_model.config.pad_id
    else:
        translator = cast("Transformer", model)
        state, pad_id = TranslationState(translator, source, max_length), translator.config.target_pad_id
    return state if repetition_penalty == 1 else PenalizedState(state, repetition_penalty, pad_id)
