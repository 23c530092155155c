"""Speculative decoding: a small model drafts several tokens, and the large model checks them in one pass.

The result has exactly the same distribution as if the large model had generated alone: Leviathan et al. (2023),
arXiv:2211.17192, algorithm 1.
"""

from collections.abc import Iterator

import torch
from jaxtyping import Float, Int
from torch import Tensor

from transformer_lab.attention.kv_cache import ModelCache
from transformer_lab.checks import check_length, check_not_negative
from transformer_lab.device import widest_float
from transformer_lab.generation.sampling import filter_logits
from transformer_lab.models.language_model import LanguageModel


class CachedModel:
    """A language model with a cache, for a text whose last tokens may be removed again.

    Args:
        model: The model.
        max_length: Maximum number of tokens that the model will read.
        sampling_options: Arguments for ``filter_logits``.
    """

    def __init__(self, model: LanguageModel, max_length: int, sampling_options: dict[str, float | int | None]) -> None:
        self.model, self.sampling_options = model, sampling_options
        self.cache: ModelCache = model.new_cache(max_length)

    def __call__(self, text: Int[Tensor, "1 n"], n_last: int) -> Float[Tensor, "n_last vocab_size"]:
        """Read the new part of a text; return the next-token probabilities at each of its last ``n_last`` positions."""
        known = min(self.cache.length, text.shape[1] - n_last)
        self.cache.truncate(known)
        logits = self.model.head(self.model.hidden(text[:, known:], self.cache)[0, -n_last:])
        logits = logits.to(widest_float(logits.device))
        return filter_logits(logits, **self.sampling_options).softmax(dim=-1)  # type: ignore[arg-type]


@torch.no_grad()
def speculate(
    model: LanguageModel,
    draft: LanguageModel,
    tokens: Int[Tensor, "batch n"],
    max_new_tokens: int,
    num_draft_tokens: int = 4,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    eos_id: int | None = None,
    generator: torch.Generator | None = None,
    min_p: float | None = None,
) -> Int[Tensor, "batch n_all"]:
    """Continue a text like ``generate``, but faster, with the help of a draft model.

    The draft model proposes ``num_draft_tokens`` tokens. Let p be the model's distribution and q the draft model's
    distribution. A token x is accepted with probability min(1, p(x) / q(x)). The first rejected token is replaced by a
    token drawn from max(0, p − q), normalized, and all later ones are dropped. If all tokens are accepted, the model
    adds one more token.

    Args:
        model: The model to sample from. Call ``model.eval()`` and ``draft.eval()`` first.
        draft: A faster model with the same vocabulary.
        tokens: The text to continue, without padding.
        max_new_tokens: Maximum number of tokens to add.
        num_draft_tokens: Number of tokens that the draft model proposes at a time.
        temperature: As in ``filter_logits``, for both models.
        top_k: As in ``filter_logits``, for both models.
        top_p: As in ``filter_logits``, for both models.
        eos_id: The token that ends a text.
        generator: Random number generator.
        min_p: As in ``filter_logits``, for both models.

    Raises:
        ValueError: There are several texts, the vocabularies differ in size, ``num_draft_tokens`` is below 1,
            ``max_new_tokens`` is negative, or the text would exceed the maximum length of a model.
    """
    sizes = model.config.vocab_size, draft.config.vocab_size
    if len(tokens) != 1 or sizes[0] != sizes[1] or num_draft_tokens < 1:
        raise ValueError(
            "speculative decoding requires one text, two models with the same vocabulary, and num_draft_tokens ≥ 1; "
            f"got {len(tokens)} texts, vocabularies of {sizes[0]} and {sizes[1]}, {num_draft_tokens=}"
        )
    check_not_negative(max_new_tokens=max_new_tokens)
    if max_new_tokens == 0:
        return tokens.clone()
    end = tokens.shape[1] + max_new_tokens
    check_length(end - 1, min(model.config.max_length, draft.config.max_length))
    options = {"temperature": temperature, "top_k": top_k, "top_p": top_p, "min_p": min_p}
    target, drafter = (CachedModel(m, m.config.max_length, options) for m in (model, draft))
    while tokens.shape[1] < end:
        n = min(num_draft_tokens, end - tokens.shape[1] - 1)
        for token in _speculate_once(target, drafter, tokens, n, generator):
            tokens = torch.cat([tokens, token[None]], dim=1)
            if eos_id is not None and int(token) == eos_id:
                return tokens
    return tokens


def _speculate_once(
    target: CachedModel,
    draft: CachedModel,
    tokens: Int[Tensor, "1 n"],
    num_draft_tokens: int,
    generator: torch.Generator | None,
) -> Iterator[Int[Tensor, " 1"]]:
    """Draft and check tokens; yield the 1 to ``num_draft_tokens`` + 1 tokens to add."""
    text, drafted = tokens, []
    for _ in range(num_draft_tokens):
        drafted.append(draft(text, 1)[0])
        text = torch.cat([text, torch.multinomial(drafted[-1], 1, generator=generator)[None]], dim=1)
    *checked, last = target(text, num_draft_tokens + 1)
    for p, q, token in zip(checked, drafted, text[0, tokens.shape[1] :, None], strict=True):
        if torch.rand((), generator=generator, device=p.device) * q[token] >= p[token]:
            yield torch.multinomial((p - q).clamp(min=0), 1, generator=generator)
            return
        yield token
    yield torch.multinomial(last, 1, generator=generator)
