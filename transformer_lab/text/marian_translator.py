"""A published translator: text in, text out, from a folder here or a name on the hub."""

from pathlib import Path

import torch

from transformer_lab.models.transformer import Transformer
from transformer_lab.pretrained.hub import CONFIG, fetch_model, read_json
from transformer_lab.pretrained.load import load_translation_model, read_options
from transformer_lab.pretrained.marian_tokenizer import END, PAD, MarianTokenizer
from transformer_lab.text.translator import TextTranslator, Translator


class MarianTranslator(TextTranslator):
    """A Transformer published in Marian's layout, and its tokenizer.

    Args:
        model: The model, on the device where it works. From now on it never writes padding: the bias of that token,
            with which its targets begin, becomes −∞.
        tokenizer: Makes token ids of texts, and texts of token ids.
        bos_id: The token that begins a translation.
        eos_id: The token that ends one, and a source.

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
            if (end := vocabulary[END]) != eos_id:
                raise ValueError(f"a text ends with token {end} by the tokenizer, and with {eos_id} by the model")
        if (pad_id := tokenizer.vocabulary[PAD]) != config.source_pad_id:
            raise ValueError(f"{pad_id} pads sources by the tokenizer, and {config.source_pad_id} by the model")
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
        folder = fetch_model(name)
        options = read_options(folder)
        model = load_translation_model(folder)
        bos_id = options.get("decoder_start_token_id", model.config.target_pad_id)
        return cls(model.to(device), MarianTokenizer(folder), bos_id, options.get("eos_token_id", 0))

    def source_tokens(self, text: str) -> list[int]:
        """Make token ids of a text to read, however long."""
        return self.tokenizer.encode(text)

    def target_tokens(self, text: str) -> list[int]:
        """Make token ids of a translation, however long."""
        return self.tokenizer.encode_target(text)

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
    folder = fetch_model(name)
    if (folder / CONFIG).is_file() and "model_type" in read_json(folder / CONFIG):
        return MarianTranslator.load(folder, device)
    return Translator.load(folder, device)
