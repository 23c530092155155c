"""Published language models that continue texts, loaded from a local folder or by a name on the hub."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from pathlib import Path

import torch
from jaxtyping import Int
from tokenizers import Tokenizer
from torch import Tensor

from transformer_lab.checks import check_positive
from transformer_lab.data.tokenizers import is_own
from transformer_lab.generation.decode import generate_steps, text_state
from transformer_lab.generation.sampling import Sampler, make_sampler
from transformer_lab.models.language_model import LanguageModel
from transformer_lab.pretrained.config_json import Options
from transformer_lab.pretrained.hub import fetch_model
from transformer_lab.pretrained.load import load_language_model, read_options
from transformer_lab.pretrained.text_tokenizer import load_text_tokenizer
from transformer_lab.text.streaming import stop_at, stream_text


class TextGenerator:
    """A language model with its tokenizer.

    Args:
        model: The model, on the device to compute on.
        tokenizer: The model's tokenizer.
        bos_id: The token to use for an empty prompt. With None, prompts must not be empty.
        eos_ids: The tokens that end a text.

    Raises:
        ValueError: The tokenizer has ids outside the model's vocabulary.
    """

    def __init__(
        self, model: LanguageModel, tokenizer: Tokenizer, bos_id: int | None = None, eos_ids: Sequence[int] = ()
    ) -> None:
        if (last := max(tokenizer.get_vocab().values())) >= (n_tokens := model.config.vocab_size):
            raise ValueError(f"token ids must be less than vocab_size={n_tokens}; the tokenizer's largest id is {last}")
        self.model, self.tokenizer, self.bos_id, self.eos_ids = model.eval(), tokenizer, bos_id, eos_ids

    @classmethod
    def load(cls, name: str | Path, device: torch.device | str = "cpu") -> "TextGenerator":
        """Load a model and its tokenizer.

        Args:
            name: A folder with ``config.json`` and safetensors in a layout that ``load_language_model`` reads, and
                ``tokenizer.json`` or ``vocab.json`` and ``merges.txt``; or a hub name, like ``openai-community/gpt2``.
            device: The device to compute on.

        Raises:
            ValueError: Files are missing or corrupted, or this library does not support some options of the model.
        """
        folder = fetch_model(name)
        model = load_language_model(folder).to(device)
        options = read_options(folder)
        bos_ids, eos_ids = (_ids(options, f"{which}_token_id") for which in ("bos", "eos"))
        tokenizer = load_text_tokenizer(folder, [*bos_ids, *eos_ids])
        tokenizer.encode_special_tokens = is_own(tokenizer)  # as in training; the file does not contain this setting
        return cls(model, tokenizer, next(iter(bos_ids), None), eos_ids)

    def stream(
        self,
        prompt: str,
        max_new_tokens: int | None = None,
        temperature: float = 1.0,
        top_k: int | None = None,
        top_p: float | None = None,
        stops: Sequence[str] = (),
        generator: torch.Generator | None = None,
        min_p: float | None = None,
        repetition_penalty: float = 1.0,
    ) -> Iterator[str]:
        """Continue a text and yield the new text in pieces, each as soon as no later token can change it.

        Args:
            prompt: The text to continue.
            max_new_tokens: Maximum number of tokens to add. None means up to the model's maximum length.
            temperature: As in ``generate``; 0 takes the most probable token.
            top_k: As in ``generate``.
            top_p: As in ``generate``.
            stops: The output ends before the first complete stop string.
            generator: Random number generator.
            min_p: As in ``generate``.
            repetition_penalty: As in ``generate``.

        Raises:
            ValueError: The prompt is empty and there is no ``bos_id``, the prompt or ``max_new_tokens`` exceeds the
                model's ``max_length``, a sampling option or the penalty is out of range, a stop string is empty, or the
                logits do not define a distribution.
            TypeError: The prompt is not a string.
        """
        tokens = self._begin(prompt)
        n_new = self._n_new(len(tokens), max_new_tokens)
        sample = make_sampler(temperature, top_k, top_p, generator, min_p)
        steps = self._steps([tokens], n_new, sample, repetition_penalty)
        return self._text((int(token) for token in steps), tokens, stops)

    def generate(
        self,
        prompts: Sequence[str],
        max_new_tokens: int | None = None,
        temperature: float = 1.0,
        top_k: int | None = None,
        top_p: float | None = None,
        stops: Sequence[str] = (),
        generator: torch.Generator | None = None,
        min_p: float | None = None,
        repetition_penalty: float = 1.0,
        batch_size: int = 64,
    ) -> list[str]:
        """Return the continuation of each prompt.

        Prompts with the same number of tokens are continued together, without padding, because the model may have no
        padding token. At temperature 0, each continuation is the same as for the prompt alone. If a prompt occurs
        several times, each occurrence gets a separate sample.

        Args:
            prompts: The texts to continue.
            max_new_tokens: As in ``stream``, for each text.
            temperature: As in ``stream``.
            top_k: As in ``stream``.
            top_p: As in ``stream``.
            stops: As in ``stream``.
            generator: Random number generator.
            min_p: As in ``stream``.
            repetition_penalty: As in ``stream``.
            batch_size: Maximum number of texts in a batch.

        Raises:
            ValueError: As in ``stream``, or ``batch_size`` is less than 1.
            TypeError: ``prompts`` is a single string, or contains items that are not strings.
        """
        if isinstance(prompts, str):
            raise TypeError(f"prompts must be a list of strings; got the string {prompts!r}: pass [prompt]")
        check_positive(batch_size=batch_size)
        sample = make_sampler(temperature, top_k, top_p, generator, min_p)
        ids = [self._begin(prompt) for prompt in prompts]
        n_new = {n: self._n_new(n, max_new_tokens) for n in sorted({len(tokens) for tokens in ids})}
        continuations = [""] * len(ids)
        for n in n_new:
            same_length = [i for i, tokens in enumerate(ids) if len(tokens) == n]
            for start in range(0, len(same_length), batch_size):
                batch = same_length[start : start + batch_size]
                steps = self._steps([ids[i] for i in batch], n_new[n], sample, repetition_penalty)
                for i, tokens in zip(batch, torch.stack(list(steps), dim=1).tolist(), strict=True):
                    continuations[i] = "".join(self._text(tokens, ids[i], stops))
        return continuations

    def _n_new(self, n_prompt: int, max_new_tokens: int | None) -> int:
        """Return how many tokens may be added to a prompt of ``n_prompt`` tokens."""
        limit = self.model.config.max_length
        if n_prompt > limit:
            raise ValueError(f"the prompt has {n_prompt} tokens; the model accepts 1 to {limit} tokens (max_length)")
        room = limit - n_prompt + 1  # the model never reads the last new token
        n_new = room if max_new_tokens is None else max_new_tokens
        if not 1 <= n_new <= room:
            raise ValueError(
                f"max_new_tokens must be between 1 and {room} for this model and prompt; got {max_new_tokens=}"
            )
        return n_new

    @torch.no_grad()  # with gradients, a state never uses its fast path
    def _steps(
        self, ids: list[list[int]], n_new: int, sample: Sampler, repetition_penalty: float
    ) -> Iterator[Int[Tensor, " rows"]]:
        """Yield the next tokens until all rows have ended; the first of ``eos_ids`` replaces all other end tokens."""
        tokens = torch.tensor(ids, device=next(self.model.parameters()).device)
        ends = torch.tensor(list(self.eos_ids), device=tokens.device, dtype=tokens.dtype)

        def sample_with_one_eos(logits: Tensor) -> Tensor:
            sampled = sample(logits)
            return torch.where(torch.isin(sampled, ends), ends[0], sampled) if len(ends) else sampled

        state = text_state(self.model, tokens.shape[1] + n_new - 1, repetition_penalty)
        return generate_steps(state, tokens, n_new, sample_with_one_eos, self.eos_ids[0] if self.eos_ids else None)

    def _text(self, tokens: Iterable[int], prompt: list[int], stops: Sequence[str]) -> Iterator[str]:
        """Return the text of the tokens after a prompt, in pieces, up to an end token or a stop string."""
        new_tokens = takewhile(lambda token: token not in self.eos_ids, tokens)
        return stop_at(stream_text(new_tokens, self.tokenizer.decode, prompt), stops)

    def _begin(self, prompt: str) -> list[int]:
        if not isinstance(prompt, str):
            raise TypeError(f"a prompt must be a string; got {type(prompt).__name__}")
        if tokens := self.tokenizer.encode(prompt).ids:
            return tokens
        if self.bos_id is None:
            raise ValueError("the prompt is empty, but this model has no beginning-of-text token; pass some text")
        return [self.bos_id]


def _ids(options: Options, name: str) -> list[int]:
    """Return the ids in an option whose value is a token id, a list of token ids, or null."""
    value = options.values.get(name)
    ids = value if isinstance(value, list) else [] if value is None else [value]
    if not all(type(token) is int for token in ids):
        raise ValueError(f"{options.where}: {name} must be a token id or a list of token ids; got {value!r}")
    return ids
