"""Presets: sensible starting points.

The presets for dates and for a corpus have been tested; the preset for text has been run only for its first hundred
steps.

This module does not import torch, unlike ``recipes``, so the command line can show the presets.
"""

from typing import Any

from transformer_lab.training.config import TrainingConfig

DATES = TrainingConfig(steps=2200, batch_tokens=900, lr=4e-3, warmup=100)

DATES_SHAPE: dict[str, Any] = {
    "d_model": 64, "n_heads": 4, "d_ff": 256, "n_layers": 2, "max_length": 64, "dropout": 0.0, "pre_norm": True,
}  # fmt: skip
"""Arguments of ``TransformerConfig`` for dates, without ``vocab_size``: there is one token per character.

The model has about 260,000 parameters and converts 99 % of unseen dates correctly after a minute of training on a CPU.
"""

CORPUS = TrainingConfig(steps=4000, batch_tokens=1200, lr=1.6e-3, warmup=400, ema=0.998, validate_every=500)

CORPUS_SHAPE: dict[str, Any] = {
    "vocab_size": 4000, "d_model": 256, "n_heads": 8, "d_ff": 1024, "n_layers": 3, "max_length": 128, "dropout": 0.1,
    "pre_norm": True,
}  # fmt: skip
"""Arguments of ``TransformerConfig`` for a parallel corpus.

The model has 6.6 million parameters, for tens of thousands of sentence pairs; train longer if you have more.
"""

TEXT = TrainingConfig(
    steps=2000, batch_tokens=2048, lr=2e-3, warmup=200, label_smoothing=0.0, weight_decay=0.1, validate_every=250
)

TEXT_SHAPE: dict[str, Any] = {
    "vocab_size": 4000, "d_model": 256, "n_heads": 8, "d_ff": 688, "n_layers": 4, "max_length": 256, "dropout": 0.1,
    "positions": "rotary", "norm": "rms", "feed_forward": "swiglu", "bias": False, "tie_embeddings": False,
}  # fmt: skip
"""Arguments of ``LanguageModelConfig`` for text: a small Llama.

The model has 5.2 million parameters, for a few megabytes of text; train longer if you have more.
"""
