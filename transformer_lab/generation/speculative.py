"""Speculative decoding: a small model guesses some tokens ahead, and the large one judges them all in one pass.

What comes out is distributed exactly as if the large model had written alone: Leviathan et al. (2023),
arXiv:2211.17192, algorithm 1.
"""

from collections.abc import Iterator

import torch
from jaxtyping import Float, Int
from torch import Tensor

from transformer_lab.attention.kv_cache import Cache
from transformer_lab.checks import check_room
from transformer_lab.generation.sampling import restrict
from transformer_lab.models.language_model import LanguageModel


class Guesser:
    """A language model whose cache follows a text that may be taken back.

    Args:
        model: The model.
        max_length: How many tokens it will read at most.
        how: Arguments for ``restrict``.
    """

    def __init__(self, model: LanguageModel, max_length: int, how: dict[str, float | int | None]) -> None:
        self.model, self.how = model, how
        self.cache: Cache = model.new_cache(max_length)

    def __call__(self, text: Int[Tensor, "1 n"], n_last: int) -> Float[Tensor, "n_last vocab_size"]:
        """Read what is new in a text; give the probabilities of what follows each of its last tokens."""
        known = min(self.cache.length, text.shape[1] - n_last)
        self.cache.cut(known)
        logits = self.model(text[:, known:], self.cache)[0, -n_last:]
        return restrict(logits.double(), **self.how).softmax(dim=-1)  # type: ignore[arg-type]


@torch.no_grad()
def speculate(
    model: LanguageModel,
    draft: LanguageModel,
    tokens: Int[Tensor, "batch n"],
    max_new_tokens: int,
    n_ahead: int = 4,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    eos_id: int | None = None,
    generator: torch.Generator | None = None,
) -> Int[Tensor, "batch n_all"]:
    """Go on with a text as ``generate`` does, with the help of a faster model.

    The draft guesses ``n_ahead`` tokens. A guess x that the model gives the probability p(x), and the draft q(x), is
    taken with probability min(1, p(x) / q(x)); at the first that is not, the token is drawn from max(0, p − q) instead,
    and the rest are dropped. If all are taken, the model adds one more.

    Args:
        model: The model whose distribution counts. Call ``model.eval()`` first, and ``draft.eval()``.
        draft: A faster model with the same vocabulary.
        tokens: The text to go on with, without padding.
        max_new_tokens: How many tokens are added at most.
        n_ahead: How many tokens are guessed at a time.
        temperature: As in ``restrict``, for both models.
        top_k: As in ``restrict``, for both models.
        top_p: As in ``restrict``, for both models.
        eos_id: The token that ends a text.
        generator: Where chance comes from.

    Raises:
        ValueError: There are several texts, the vocabularies differ in size, ``n_ahead`` is below 1, or a model cannot
            take so many tokens.
    """
    sizes = model.config.vocab_size, draft.config.vocab_size
    if len(tokens) != 1 or sizes[0] != sizes[1] or n_ahead < 1:
        raise ValueError(
            "needed are one text, one vocabulary and at least one guess; "
            f"got {len(tokens)} texts, vocabularies of {sizes[0]} and {sizes[1]}, {n_ahead=}"
        )
    end = tokens.shape[1] + max_new_tokens
    check_room(end - 1, min(model.config.max_length, draft.config.max_length))
    how = {"temperature": temperature, "top_k": top_k, "top_p": top_p}
    judge, guess = (Guesser(m, m.config.max_length, how) for m in (model, draft))
    while tokens.shape[1] < end:
        n = min(n_ahead, end - tokens.shape[1] - 1)
        for token in _round(judge, guess, tokens, n, generator):
            tokens = torch.cat([tokens, token[None]], dim=1)
            if eos_id is not None and int(token) == eos_id:
                return tokens
    return tokens


def _round(
    judge: Guesser, guess: Guesser, tokens: Int[Tensor, "1 n"], n_ahead: int, generator: torch.Generator | None
) -> Iterator[Int[Tensor, " 1"]]:
    """Guess, judge, and give the tokens that are taken, from 1 to ``n_ahead`` + 1."""
    text, guesses = tokens, []
    for _ in range(n_ahead):
        guesses.append(guess(text, 1)[0])
        text = torch.cat([text, torch.multinomial(guesses[-1], 1, generator=generator)[None]], dim=1)
    *judged, last = judge(text, n_ahead + 1)
    for p, q, token in zip(judged, guesses, text[0, tokens.shape[1] :, None], strict=True):
        if torch.rand((), generator=generator, device=p.device) * q[token] >= p[token]:
            yield torch.multinomial((p - q).clamp(min=0), 1, generator=generator)
            return
        yield token
    yield torch.multinomial(last, 1, generator=generator)
