"""Published translators, loaded from a local folder or by a name on the hub."""

from pathlib import Path

import torch

from transformer_lab.models.transformer import Transformer
from transformer_lab.pretrained.hub import CONFIG, fetch_model, read_json
from transformer_lab.pretrained.load import load_translation_model, read_options
from transformer_lab.pretrained.marian_tokenizer import END, PAD, MarianTokenizer
from transformer_lab.text.translator import TextTranslator, Translator


class MarianTranslator(TextTranslator):
    """A Transformer published in Marian's layout, with its tokenizer.

    Args:
        model: The model, on the device to compute on. The output bias of its padding token, which begins the targets,
            is set to −∞, so that padding is never generated.
        tokenizer: The model's tokenizer.
        bos_id: The token that begins a translation.
        eos_id: The token that ends sources and translations.

    Raises:
        ValueError: Model and tokenizer have different vocabularies, end tokens or padding tokens.
    """

    def __init__(self, model: Transformer, tokenizer: MarianTokenizer, bos_id: int, eos_id: int) -> None:
        super().__init__(model, bos_id, eos_id)
        self.tokenizer, config = tokenizer, model.config
        sides = ((tokenizer.vocabulary, config.n_source_tokens), (tokenizer.target_vocabulary, config.vocab_size))
        for vocabulary, n_tokens in sides:
            if (last := max(vocabulary.values())) >= n_tokens:
                raise ValueError(
                    f"token ids must be less than vocab_size={n_tokens}; the tokenizer's largest id is {last}"
                )
            if (end := vocabulary[END]) != eos_id:
                raise ValueError(f"the tokenizer ends texts with token {end}, but the model ends texts with {eos_id}")
        if (pad_id := tokenizer.vocabulary[PAD]) != config.source_pad_id:
            raise ValueError(f"the tokenizer pads with token {pad_id}, but the model pads with {config.source_pad_id}")
        if model.output_bias is not None:
            with torch.no_grad():
                model.output_bias[config.target_pad_id] = -torch.inf

    @classmethod
    def load(cls, name: str | Path, device: torch.device | str = "cpu") -> "MarianTranslator":
        """Load a translator.

        Args:
            name: A folder with ``config.json``, safetensors, ``source.spm``, ``target.spm`` and ``vocab.json``, or a
                name on the hub, such as ``Helsinki-NLP/opus-mt-en-de``.
            device: The device to compute on.

        Raises:
            ValueError: Files are missing or corrupted, or this library does not support some options of the model.
        """
        folder = fetch_model(name)
        options = read_options(folder)
        model = load_translation_model(folder)
        bos_id = options.get("decoder_start_token_id", model.config.target_pad_id)
        return cls(model.to(device), MarianTokenizer(folder), bos_id, options.get("eos_token_id", 0))

    def source_tokens(self, text: str) -> list[int]:
        """Return the token ids of a source of any length."""
        return self.tokenizer.encode(text)

    def decode(self, ids: list[int]) -> str:
        """Return the text of a translation's token ids, without special tokens."""
        return self.tokenizer.decode(ids)


def load_translator(name: str | Path, device: torch.device | str = "cpu") -> TextTranslator:
    """Load a translator that was trained with this library or published.

    Args:
        name: A folder written by training, a published folder, or a name on the hub.
        device: The device to compute on.

    Raises:
        ValueError: Files are missing or corrupted, or this library does not support some options of the model.
    """
    folder = fetch_model(name)
    if (folder / CONFIG).is_file() and "model_type" in read_json(folder / CONFIG):
        return MarianTranslator.load(folder, device)
    return Translator.load(folder, device)
