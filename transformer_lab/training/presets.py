"""Presets: settings to begin with. Those of dates and of a corpus were found to work; that of text has been tried for
its first hundred steps only.

They are kept apart from ``recipes``, and free of torch, so that the command line can show them as its defaults.
"""

from typing import Any

from transformer_lab.training.config import TrainingConfig

DATES = TrainingConfig(steps=2200, batch_tokens=900, lr=4e-3, warmup=100)

DATES_SHAPE: dict[str, Any] = {
    "d_model": 64, "n_heads": 4, "d_ff": 256, "n_layers": 2, "max_length": 64, "dropout": 0.0, "pre_norm": True,
}  # fmt: skip
"""Arguments of ``TransformerConfig`` for dates, without ``vocab_size``: the vocabulary is the characters that occur.

A model of about 260,000 parameters that converts 99 of 100 unseen dates correctly after a minute of training on a CPU.
"""

CORPUS = TrainingConfig(steps=4000, batch_tokens=1200, lr=1.6e-3, warmup=400, ema=0.998, validate_every=500)

CORPUS_SHAPE: dict[str, Any] = {
    "vocab_size": 4000, "d_model": 256, "n_heads": 8, "d_ff": 1024, "n_layers": 3, "max_length": 128, "dropout": 0.1,
    "pre_norm": True,
}  # fmt: skip
"""Arguments of ``TransformerConfig`` for a parallel corpus.

A model of 6.6 million parameters, for some ten thousand sentence pairs; for more of them, train longer.
"""

TEXT = TrainingConfig(
    steps=2000, batch_tokens=2048, lr=2e-3, warmup=200, label_smoothing=0.0, weight_decay=0.1, validate_every=250
)

TEXT_SHAPE: dict[str, Any] = {
    "vocab_size": 4000, "d_model": 256, "n_heads": 8, "d_ff": 688, "n_layers": 4, "max_length": 256, "dropout": 0.1,
    "positions": "rotary", "norm": "rms", "feed_forward": "swiglu", "bias": False, "tie_embeddings": False,
}  # fmt: skip
"""Arguments of ``LanguageModelConfig`` for text: a small Llama.

A model of 5.2 million parameters, for some megabytes of text; for more of it, train longer.
"""
