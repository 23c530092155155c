"""Train lesson 05's models with more depths, heads, bases, lengths and learning rates than in the lesson.

``python -m authoring.train_position_runs`` uses the lesson's own code and stores the accuracies for the lesson. The
command takes about seven minutes on one core.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any

import torch
from torch import Tensor

from authoring.stored_runs import defined, store_runs
from transformer_course.stored_models.stored_model import FOLDER
from transformer_lab import LanguageModel, LanguageModelConfig

COMMAND = "python -m authoring.train_position_runs"
FILE = FOLDER / "position-runs" / "accuracy.json"
LESSON, NEEDED = "05_positions", {"train", "two_before", "trained"}
SEEDS, LEARNING_RATES = (0, 1, 2), (0.003, 0.01)
SCHEMES = ("sinusoidal", "learned", "rotary", "alibi", "none")
DEPTHS_AND_STEPS = ((1, 200), (2, 600))
HEAD_SCHEMES, FEWER_HEADS = ("rotary", "alibi"), (1, 2)
HEAD_WIDTHS, BASES, D_MODEL = (8, 16, 32, 64), (30.0, 1e2, 1e4, 1e6, 1e9), 64
TWO_HEAD_BASES = (1e4, 1e6)
LONG_LENGTHS, LONG_STEPS = (32, 64), 400
COUNTERS = {
    "without <bos>": (False, 2, 0.005, 200),
    "with <bos>": (True, 2, 0.005, 200),
    "without <bos>, 4 layers": (False, 4, 0.002, 1000),
}
"""Causal models without position encodings that predict each token's position: whether the text starts with ``<bos>``,
number of layers, learning rate and training steps.
"""


@dataclass(frozen=True)
class Setting:
    """The arguments of the lesson's function ``trained`` for one model, except the seed.

    Attributes:
        scheme: Position scheme.
        rate: Learning rate.
        steps: Number of training steps.
        length: Number of tokens in the training texts.
        n_layers: Number of layers.
        d_model: Width of the model. Its FFN is twice as wide.
        n_heads: Number of heads.
        rotary_base: Base of RoPE's frequencies.
    """

    scheme: str
    rate: float = 0.01
    steps: int = 200
    length: int = 16
    n_layers: int = 1
    d_model: int = 32
    n_heads: int = 4
    rotary_base: float = 1e4


def settings() -> Iterator[tuple[str, Setting]]:
    """Yield every setting with the name of its table."""
    for length in LONG_LENGTHS:
        yield "trained length", Setting("rotary", steps=LONG_STEPS, length=length)
    for width, base in product(HEAD_WIDTHS, BASES):
        yield "bases", Setting("rotary", 0.005, 300, d_model=D_MODEL, n_heads=D_MODEL // width, rotary_base=base)
    for width, base in product(HEAD_WIDTHS, TWO_HEAD_BASES):
        yield "two heads", Setting("rotary", 0.005, 300, d_model=2 * width, n_heads=2, rotary_base=base)
    for base in TWO_HEAD_BASES:
        yield "larger rate", Setting("rotary", 0.015, 300, d_model=D_MODEL, n_heads=2, rotary_base=base)
    for (n_layers, steps), scheme, rate in product(DEPTHS_AND_STEPS, SCHEMES, LEARNING_RATES):
        yield "schemes", Setting(scheme, rate, steps, n_layers=n_layers)
    for n_heads, scheme, rate in product(FEWER_HEADS, HEAD_SCHEMES, LEARNING_RATES):
        yield "heads", Setting(scheme, rate, 600, n_layers=2, n_heads=n_heads)


def accuracies(setting: Setting, seed: int, lesson: dict[str, Any]) -> list[float]:
    """Return the mean accuracy in three ranges of positions: up to 1, from 1 to 2, and from 2 to 4 training lengths."""
    arguments = asdict(setting)
    by_position: Tensor = lesson["trained"](seed=seed, d_ff=2 * setting.d_model, **arguments)[1]
    once, twice = setting.length, 2 * setting.length
    ranges = by_position[2:once], by_position[once:twice], by_position[twice:]
    return [round(accuracy.mean().item(), 2) for accuracy in ranges]


def rows(found: Iterator[tuple[str, Setting]]) -> Iterator[dict[str, Any]]:
    """Yield a table row for each setting and seed."""
    lesson = defined(NEEDED, LESSON)
    for table, setting in found:
        for seed in SEEDS:
            trained, twice, four_times = accuracies(setting, seed, lesson)
            reached = {"trained": trained, "twice": twice, "four times": four_times}
            yield {"table": table, **asdict(setting), "seed": seed, **reached}


def which_position(tokens: Tensor) -> Tensor:
    """Return the correct answers: 0, 1, 2, … for every text."""
    return torch.arange(tokens.shape[1]).expand(tokens.shape)


def counted(name: str, seed: int) -> list[float]:
    """Return the accuracy of a model in ``COUNTERS`` at each of the 16 positions, excluding ``<bos>``."""
    has_bos, n_layers, rate, steps = COUNTERS[name]
    torch.manual_seed(seed)
    shape: dict[str, Any] = {"d_model": 32, "n_heads": 4, "d_ff": 64, "n_layers": n_layers, "dropout": 0.0}
    config = LanguageModelConfig(17, positions="none", tie_embeddings=False, max_length=16 + has_bos, **shape)
    train = defined(NEEDED, LESSON)["train"]
    right = train(LanguageModel(config), which_position, bos=has_bos, rate=rate, steps=steps)
    return [round(accuracy, 2) for accuracy in right[has_bos:].tolist()]


def tables() -> dict[str, Any]:
    """Train all models and return their results for each of the lesson's tables."""
    by_position = {name: [counted(name, seed) for seed in SEEDS] for name in COUNTERS}
    return {"counting": by_position, "runs": list(rows(settings()))}


if __name__ == "__main__":
    store_runs(FILE, COMMAND, tables)
