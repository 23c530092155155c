"""Small tasks (copying and continuing a text) and small models whose training steps take milliseconds."""

from pathlib import Path

import numpy as np
import torch

from transformer_lab.data.batches import Batches, InMemory, WindowBatches, split_into_windows
from transformer_lab.data.tokenizers import BOS_ID, EOS_ID, PAD_ID
from transformer_lab.models.language_model import LanguageModel
from transformer_lab.models.language_model_config import LanguageModelConfig
from transformer_lab.models.transformer import Transformer
from transformer_lab.models.transformer_config import TransformerConfig
from transformer_lab.training.config import TrainingConfig
from transformer_lab.training.trainer import Trainer

VOCAB_SIZE = 11
SHAPE = TransformerConfig(
    VOCAB_SIZE, d_model=16, n_heads=2, d_ff=24, n_layers=1, max_length=12, dropout=0.1, pre_norm=True
)
STEPS = 24


def config(**changes: object) -> TrainingConfig:
    return TrainingConfig(**{"steps": STEPS, "batch_tokens": 60, "lr": 1e-2, "warmup": 5, "log_every": 1} | changes)


def batches(seed: int = 0) -> Batches:
    rng = np.random.default_rng(3)
    texts = [rng.integers(4, VOCAB_SIZE, rng.integers(1, 9)) for _ in range(100)]
    sources = InMemory(np.append(text, EOS_ID) for text in texts)
    targets = InMemory(np.concatenate([[BOS_ID], text, [EOS_ID]]) for text in texts)
    return Batches(sources, targets, 60, PAD_ID, seed)


def model(dropout: float = 0.1) -> Transformer:
    torch.manual_seed(0)
    return Transformer(TransformerConfig(**vars(SHAPE) | {"dropout": dropout}))


def trainer(folder: Path, validate=None, dropout: float = 0.1, **changes: object) -> Trainer:
    return Trainer(model(dropout), batches(), config(**changes), folder, validate)


def text_batches(seed: int = 0) -> WindowBatches:
    """Return windows of a text in which each token is usually the previous token plus 3, but sometimes plus 4."""
    rng = np.random.default_rng(5)
    text = (np.cumsum(3 + (rng.random(403) < 0.1)) % VOCAB_SIZE).tolist()
    return WindowBatches(InMemory(map(np.asarray, split_into_windows(text, 10))), 60, seed)


def text_model(dropout: float = 0.1) -> LanguageModel:
    torch.manual_seed(0)
    return LanguageModel(
        LanguageModelConfig.llama(
            VOCAB_SIZE, d_model=16, n_heads=2, d_ff=24, n_layers=1, max_length=10, dropout=dropout
        )
    )


def text_trainer(folder: Path, validate=None, dropout: float = 0.1, **changes: object) -> Trainer:
    return Trainer(text_model(dropout), text_batches(), config(**changes), folder, validate)
