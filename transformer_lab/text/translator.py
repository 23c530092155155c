"""Translators for texts. A folder written by training contains everything that a translator needs."""

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from itertools import islice
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer

from transformer_lab.atomic_write import atomic_write_text
from transformer_lab.checks import check_length, check_positive
from transformer_lab.data.batches import pad
from transformer_lab.data.tokenizers import BOS_ID, EOS_ID, load_tokenizer
from transformer_lab.generation.beam_search import beam_search
from transformer_lab.models.transformer import Transformer
from transformer_lab.models.transformer_config import TransformerConfig
from transformer_lab.tensor_files import (
    PARAMETERS_FILE,
    check_sinusoids,
    described_by,
    load_parameters,
    make_empty,
    read_tensors,
)

CONFIG, TOKENIZER = "config.json", "tokenizer.json"


class TextTranslator(ABC):
    """A Transformer that translates texts; subclasses define the tokenization.

    Args:
        model: The model, on the device to compute on.
        bos_id: The token that begins a translation.
        eos_id: The token that ends sources and translations.
    """

    def __init__(self, model: Transformer, bos_id: int, eos_id: int) -> None:
        self.model, self.bos_id, self.eos_id = model, bos_id, eos_id

    @abstractmethod
    def source_tokens(self, text: str) -> list[int]:
        """Return the token ids of a source of any length."""

    @abstractmethod
    def decode(self, ids: list[int]) -> str:
        """Return the text of a translation's token ids, without special tokens."""

    @property
    def device(self) -> torch.device:
        """The device of the model."""
        return next(self.model.parameters()).device

    @property
    def longest(self) -> int:
        """Maximum number of tokens in a text: ``max_length`` without the begin or end token."""
        return self.model.config.max_length - 1

    def encode_source(self, text: str) -> NDArray[np.int64]:
        """Return the token ids of a source, truncated to the model's maximum length, with the end token."""
        return np.asarray([*self.source_tokens(text)[: self.longest], self.eos_id])

    @torch.no_grad()
    def translate(
        self,
        texts: Iterable[str],
        max_length: int | None = None,
        batch_size: int = 64,
        beam_size: int = 1,
    ) -> Iterator[str]:
        """Yield translations, reading one batch of texts at a time.

        Args:
            texts: The sources; the translation of an empty text is empty.
            max_length: Maximum number of tokens in a translation. None means the model's maximum.
            batch_size: Maximum number of texts in a batch.
            beam_size: Number of hypotheses per text; 1 is greedy decoding.

        Raises:
            ValueError: ``max_length`` exceeds the model's maximum, or a size is less than 1.
        """
        max_length = self.model.config.max_length if max_length is None else max_length
        check_length(max_length, self.model.config.max_length)
        check_positive(batch_size=batch_size)
        texts = iter(texts)
        self.model.eval()
        while batch := list(islice(texts, batch_size)):
            yield from self._translate_batch([text.strip() for text in batch], max_length, beam_size)

    def _translate_batch(self, texts: Sequence[str], max_length: int, beam_size: int) -> list[str]:
        translations = ["" for _ in texts]
        if rows := [i for i, text in enumerate(texts) if text]:  # the translation of an empty text is empty
            source = pad([self.encode_source(texts[i]) for i in rows], self.model.config.source_pad_id).to(self.device)
            ids = beam_search(self.model, source, self.bos_id, self.eos_id, max_length, beam_size)
            for i, tokens in zip(rows, ids.tolist(), strict=True):
                translations[i] = self.decode(tokens).strip()
        return translations


class Translator(TextTranslator):
    """A Transformer trained with this library, with the tokenizer that sources and targets share.

    Args:
        model: The model, on the device to compute on.
        tokenizer: The model's tokenizer.
    """

    def __init__(self, model: Transformer, tokenizer: Tokenizer) -> None:
        super().__init__(model, BOS_ID, EOS_ID)
        self.tokenizer = tokenizer

    @classmethod
    def load(cls, folder: Path, device: torch.device | str = "cpu") -> "Translator":
        """Load a translator from its folder.

        Raises:
            ValueError: Files are missing or corrupted.
        """
        missing = [name for name in (CONFIG, TOKENIZER, PARAMETERS_FILE) if not (folder / name).is_file()]
        if missing:
            raise ValueError(f"{folder} does not contain a trained model: {', '.join(missing)} not found")
        where = f"{folder / CONFIG} does not describe a model of this library"
        with described_by(where):
            config = TransformerConfig(**json.loads((folder / CONFIG).read_text("utf-8")))
        tensors, _ = read_tensors(folder / PARAMETERS_FILE)
        model = make_empty(lambda: Transformer(config), config.n_layers, tensors, where)
        check_sinusoids(config.max_length, config.d_model, tensors, where)
        load_parameters(model, tensors, folder / PARAMETERS_FILE)
        return cls(model.to(device).eval(), load_tokenizer(folder / TOKENIZER))

    def save_description(self, folder: Path) -> None:
        """Write the configuration and the tokenizer to a folder; training writes the parameters."""
        folder.mkdir(parents=True, exist_ok=True)
        atomic_write_text(folder / CONFIG, json.dumps(asdict(self.model.config), indent=2) + "\n")
        atomic_write_text(folder / TOKENIZER, self.tokenizer.to_str(pretty=True))

    def source_tokens(self, text: str) -> list[int]:
        """Return the token ids of a source of any length."""
        return self.tokenizer.encode(text).ids

    def encode_target(self, text: str) -> NDArray[np.int64]:
        """Return the token ids of a translation, truncated to the model's maximum length, with begin and end tokens."""
        return np.asarray([self.bos_id, *self.tokenizer.encode(text).ids[: self.longest], self.eos_id])

    def decode(self, ids: list[int]) -> str:
        """Return the text of a translation's token ids, without special tokens."""
        return self.tokenizer.decode(ids)
