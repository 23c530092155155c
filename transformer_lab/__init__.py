"""The Transformer in plain PyTorch: a small library that reads like a book.

Each folder is a chapter that you can read from top to bottom. No chapter depends on a later chapter, with one
exception: decoding calls chapter 6, a faster implementation of the models.

1. ``attention``: scores, masks, positions, heads, and the key/value cache.
2. ``layers``: feed-forward networks, norms, encoder and decoder layers.
3. ``models``: the paper's Transformer, language models from GPT-2 to Llama, and recurrent networks.
4. ``generation``: from logits to token ids, by sampling, greedy decoding, beam search or speculative decoding.
5. ``inspection``: the attention weights and shapes of a running model.
6. ``fast``: the same computations, faster, for training and decoding.
7. ``data``, ``pretrained``, ``text``, ``training``: corpora, published weights, text generation and translation, and
   training.

You can import the names below from this package; each is imported on first use. Set ``TRANSFORMER_LAB_CHECK_SHAPES=1``
before the first import to check calls against their jaxtyping annotations. It is off except in tests.
"""

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from transformer_lab.attention.additive import AdditiveAttention as AdditiveAttention
    from transformer_lab.attention.dot_product import attend as attend
    from transformer_lab.attention.dot_product import scaled_dot_product_attention as scaled_dot_product_attention
    from transformer_lab.attention.grouped_query import GroupedQueryAttention as GroupedQueryAttention
    from transformer_lab.attention.masks import causal_mask as causal_mask
    from transformer_lab.attention.masks import decoder_mask as decoder_mask
    from transformer_lab.attention.masks import padding_mask as padding_mask
    from transformer_lab.attention.multi_head import MultiHeadAttention as MultiHeadAttention
    from transformer_lab.attention.positions import sinusoidal_encoding as sinusoidal_encoding
    from transformer_lab.generation.beam_search import beam_search as beam_search
    from transformer_lab.generation.decode import generate as generate
    from transformer_lab.generation.decode import greedy_decode as greedy_decode
    from transformer_lab.inspection.hooks import record_attention as record_attention
    from transformer_lab.inspection.shapes import trace_shapes as trace_shapes
    from transformer_lab.layers.decoder_layer import DecoderLayer as DecoderLayer
    from transformer_lab.layers.encoder_layer import EncoderLayer as EncoderLayer
    from transformer_lab.layers.feed_forward import FeedForward as FeedForward
    from transformer_lab.models.decoder import Decoder as Decoder
    from transformer_lab.models.encoder import Encoder as Encoder
    from transformer_lab.models.initialization import initialize as initialize
    from transformer_lab.models.language_model import LanguageModel as LanguageModel
    from transformer_lab.models.language_model_config import LanguageModelConfig as LanguageModelConfig
    from transformer_lab.models.transformer import Transformer as Transformer
    from transformer_lab.models.transformer_config import TransformerConfig as TransformerConfig
    from transformer_lab.text.marian_translator import load_translator as load_translator
    from transformer_lab.text.text_generator import TextGenerator as TextGenerator

_MODULES = {
    "AdditiveAttention": "attention.additive",
    "Decoder": "models.decoder",
    "DecoderLayer": "layers.decoder_layer",
    "Encoder": "models.encoder",
    "EncoderLayer": "layers.encoder_layer",
    "FeedForward": "layers.feed_forward",
    "GroupedQueryAttention": "attention.grouped_query",
    "LanguageModel": "models.language_model",
    "LanguageModelConfig": "models.language_model_config",
    "MultiHeadAttention": "attention.multi_head",
    "TextGenerator": "text.text_generator",
    "Transformer": "models.transformer",
    "TransformerConfig": "models.transformer_config",
    "attend": "attention.dot_product",
    "beam_search": "generation.beam_search",
    "causal_mask": "attention.masks",
    "decoder_mask": "attention.masks",
    "generate": "generation.decode",
    "greedy_decode": "generation.decode",
    "initialize": "models.initialization",
    "load_translator": "text.marian_translator",
    "padding_mask": "attention.masks",
    "record_attention": "inspection.hooks",
    "scaled_dot_product_attention": "attention.dot_product",
    "sinusoidal_encoding": "attention.positions",
    "trace_shapes": "inspection.shapes",
}
"""The module that defines each public name."""

__all__ = [*_MODULES]

if os.environ.get("TRANSFORMER_LAB_CHECK_SHAPES") == "1":
    from transformer_lab import shape_checks as shape_checks

    _MODEL = ("attention", "layers", "models", "fast", "generation", "pretrained", "text", "training")
    shape_checks.install(*(f"{__name__}.{package}" for package in (*_MODEL, "data", "inspection")))


def __getattr__(name: str) -> Any:
    """Import a public name on first use, so that importing the package does not import torch."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
