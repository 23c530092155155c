"""A published translator: text in, text out, from a folder here or a name on the hub."""

from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from transformer_lab.transformer import Transformer
from transformer_lab.translator import TextTranslator, Translator
from transformer_lab.weights.folder import CONFIG, find, read_json
from transformer_lab.weights.marian_tokenizer import END, MarianTokenizer
from transformer_lab.weights.pretrained import load_translation_model, read_options


class MarianTranslator(TextTranslator):
    """A Transformer published in Marian's layout, and its tokenizer.

    Args:
        model: The model, on the device where it works. From now on it never writes padding: the bias of that token,
            with which its targets begin, becomes −∞.
        tokenizer: Makes token ids of texts, and texts of token ids.
        bos_id: The token that begins a translation.
        eos_id: The token that ends one.

    Raises:
        ValueError: Model and tokenizer have other tokens.
    """

    def __init__(self, model: Transformer, tokenizer: MarianTokenizer, bos_id: int, eos_id: int) -> None:
        super().__init__(model, bos_id, eos_id)
        self.tokenizer, config = tokenizer, model.config
        sides = ((tokenizer.vocabulary, config.n_source_tokens), (tokenizer.target_vocabulary, config.vocab_size))
        for vocabulary, n_tokens in sides:
            if (last := max(vocabulary.values())) >= n_tokens:
                raise ValueError(f"the tokenizer has a token {last}, and the model only {n_tokens} tokens")
        if (end := tokenizer.target_vocabulary[END]) != eos_id:
            raise ValueError(f"a translation ends with token {end} by the tokenizer, and with {eos_id} by the model")
        if model.output_bias is not None:
            with torch.no_grad():
                model.output_bias[config.target_pad_id] = -torch.inf

    @classmethod
    def load(cls, name: str | Path, device: torch.device | str = "cpu") -> "MarianTranslator":
        """Load a translator.

        Args:
            name: A folder with ``config.json``, safetensors, ``source.spm``, ``target.spm`` and ``vocab.json``, or a
                name on the hub, such as ``Helsinki-NLP/opus-mt-en-de``.
            device: Where it works.

        Raises:
            ValueError: Something is missing, damaged, or not to be represented here.
        """
        folder = find(name)
        options = read_options(folder)
        model = load_translation_model(folder)
        bos_id = options.get("decoder_start_token_id", model.config.target_pad_id)
        return cls(model.to(device), MarianTokenizer(folder), bos_id, options.get("eos_token_id", 0))

    def encode_source(self, text: str) -> NDArray[np.int64]:
        """Make token ids of a text to read, as many as the model takes, and the one that ends it."""
        return np.asarray([*self.tokenizer.encode(text)[: self.longest], self.tokenizer.eos_id])

    def encode_target(self, text: str) -> NDArray[np.int64]:
        """Make token ids of a translation, as many as the model takes, between the one that begins and that ends it."""
        return np.asarray([self.bos_id, *self.tokenizer.encode_target(text)[: self.longest], self.eos_id])

    def decode(self, ids: list[int]) -> str:
        """Make a text of the token ids of a translation, leaving out what stands for no text."""
        return self.tokenizer.decode(ids)


def load_translator(name: str | Path, device: torch.device | str = "cpu") -> TextTranslator:
    """Load a translator, trained here or published.

    Args:
        name: A folder that training made, a published folder, or a name on the hub.
        device: Where it works.

    Raises:
        ValueError: Something is missing, damaged, or not to be represented here.
    """
    folder = find(name)
    if (folder / CONFIG).is_file() and "model_type" in read_json(folder / CONFIG):
        return MarianTranslator.load(folder, device)
    return Translator.load(folder, device)
