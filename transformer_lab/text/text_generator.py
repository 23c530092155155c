"""A published language model that continues texts: text in, text out, from a local folder or a name on the hub."""

from collections.abc import Iterator, Sequence
from itertools import takewhile
from pathlib import Path

import torch
from tokenizers import Tokenizer

from transformer_lab.generation.decode import generate_steps
from transformer_lab.generation.decoding_state import TextState
from transformer_lab.generation.sampling import make_sampler
from transformer_lab.models.language_model import LanguageModel
from transformer_lab.pretrained.config_json import Options
from transformer_lab.pretrained.hub import fetch_model
from transformer_lab.pretrained.load import load_language_model, read_options
from transformer_lab.pretrained.text_tokenizer import load_text_tokenizer
from transformer_lab.text.streaming import stop_at, stream_text


class TextGenerator:
    """A language model and its tokenizer.

    Args:
        model: The model, on the device to compute on.
        tokenizer: The model's tokenizer.
        bos_id: The token that stands for an empty prompt. None: prompts must not be empty.
        eos_ids: The tokens that end a text.

    Raises:
        ValueError: The tokenizer has ids outside the model's vocabulary.
    """

    def __init__(
        self, model: LanguageModel, tokenizer: Tokenizer, bos_id: int | None = None, eos_ids: Sequence[int] = ()
    ) -> None:
        if (last := max(tokenizer.get_vocab().values())) >= (n_tokens := model.config.vocab_size):
            raise ValueError(f"token ids must be below vocab_size={n_tokens}; the tokenizer has {last}")
        self.model, self.tokenizer, self.bos_id, self.eos_ids = model.eval(), tokenizer, bos_id, eos_ids

    @classmethod
    def load(cls, name: str | Path, device: torch.device | str = "cpu") -> "TextGenerator":
        """Load a model and its tokenizer.

        Args:
            name: A folder with ``config.json`` and safetensors in a layout that ``load_language_model`` reads, and
                ``tokenizer.json`` or ``vocab.json`` and ``merges.txt``; or a name on the hub, such as
                ``openai-community/gpt2``.
            device: The device to compute on.

        Raises:
            ValueError: Files are missing or damaged, or the model has options that this library does not support.
        """
        folder = fetch_model(name)
        model = load_language_model(folder).to(device)
        options = read_options(folder)
        bos_ids, eos_ids = (_ids(options, f"{which}_token_id") for which in ("bos", "eos"))
        return cls(model, load_text_tokenizer(folder, [*bos_ids, *eos_ids]), next(iter(bos_ids), None), eos_ids)

    def stream(
        self,
        prompt: str,
        max_new_tokens: int | None = None,
        temperature: float = 1.0,
        top_k: int | None = None,
        top_p: float | None = None,
        stops: Sequence[str] = (),
        generator: torch.Generator | None = None,
    ) -> Iterator[str]:
        """Continue a text, and yield what is added piece by piece, each piece as soon as no later token can change it.

        Args:
            prompt: The text to continue.
            max_new_tokens: Largest number of tokens to add. None: as many as the model has positions for.
            temperature: As in ``generate``; 0 takes the most probable token.
            top_k: As in ``generate``.
            top_p: As in ``generate``.
            stops: The output ends before the first of these strings that is complete.
            generator: Random number generator.

        Raises:
            ValueError: The prompt is empty and there is no ``bos_id``, the prompt or ``max_new_tokens`` exceeds the
                model's ``max_length``, an option of sampling is out of range, or a stop string is empty.
        """
        tokens, limit = self._begin(prompt), self.model.config.max_length
        if len(tokens) > limit:
            raise ValueError(f"the prompt has {len(tokens)} tokens; this model reads 1 to max_length={limit}")
        room = limit - len(tokens) + 1  # the last token that is written is not read
        n_new = room if max_new_tokens is None else max_new_tokens
        if not 1 <= n_new <= room:
            raise ValueError(
                f"max_new_tokens must be between 1 and {room} for this model and prompt; got {max_new_tokens=}"
            )
        state = TextState(self.model, len(tokens) + n_new - 1)
        begin = torch.tensor([tokens], device=next(self.model.parameters()).device)
        steps = generate_steps(state, begin, n_new, make_sampler(temperature, top_k, top_p, generator))
        added = takewhile(lambda token: token not in self.eos_ids, (int(token) for token in steps))
        return stop_at(stream_text(added, self.tokenizer.decode, tokens), stops)

    def _begin(self, prompt: str) -> list[int]:
        if tokens := self.tokenizer.encode(prompt).ids:
            return tokens
        if self.bos_id is None:
            raise ValueError("the prompt is empty, and this model has no token that begins a text")
        return [self.bos_id]


def _ids(options: Options, name: str) -> list[int]:
    """Return the ids in an option that holds a token, a list of tokens, or null."""
    value = options.values.get(name)
    ids = value if isinstance(value, list) else [] if value is None else [value]
    if not all(type(token) is int for token in ids):
        raise ValueError(f"{options.where}: {name} must be a token id, or a list of them; got {value!r}")
    return ids
