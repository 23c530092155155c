"""Train the stored runs for lesson 06: layers with and without each part, at several depths and learning rates.

``python -m authoring.train_stack_runs`` uses the lesson's own code and stores the results for the lesson. It takes
about fifteen minutes on one core. If you interrupt the command, run it again to train the remaining models.
"""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch import nn

from authoring.stored_runs import defined
from transformer_course.stored_models.stored_model import FOLDER

COMMAND = "python -m authoring.train_stack_runs"
FILE = FOLDER / "stack-runs" / "results.json"
LESSON = "06_encoder"
NEEDED = {"stack", "Stacked", "fit", "learn_facts", "draw_texts", "name_the_token_before"}
NEEDED |= {"NoFFN", "NoReLU", "SumsOnly", "PreNormNoFFN"}
NEEDED |= {"days", "texts", "CHARACTERS", "LENGTH", "encode", "tests", "training", "GapFiller", "draw_gaps"}
NEEDED |= {"text_rows", "months_at", "wanted_letters", "questions", "fill_gaps", "attention_of_the_gap"}
SEEDS, TABLES = (0, 1, 2), ("facts", "runs", "gaps", "heads")
FACTS_KINDS = {
    "one layer": ("EncoderLayer", 1, (0.003, 0.01, 0.03)),
    "one layer without FFN": ("NoFFN", 1, (0.003, 0.01)),
    "one layer without ReLU": ("NoReLU", 1, (0.003, 0.01)),
    "three attentions": ("NoFFN", 3, (0.003, 0.01)),
    "one layer, pre-norm": ("PreNormEncoderLayer", 1, (0.003, 0.01, 0.03)),
    "three attentions, pre-norm": ("PreNormNoFFN", 3, (0.003, 0.01)),
    "one layer, sums only": ("SumsOnly", 1, (0.003, 0.01, 0.03)),
}
"""Models that learn facts: class of the layers, number of layers, and learning rates."""


class Setting(NamedTuple):
    """Setting of one of the lesson's stacks, except the seed."""

    kind: str
    depth: int
    rate: float
    steps: int
    warmup: int


def settings() -> Iterator[Setting]:
    """Yield every setting of the stacks that predict the previous token."""
    for warmup in (0, 300):
        yield Setting("post-norm", 8, 0.003, 1000, warmup)


def facts_settings() -> Iterator[tuple[str, float]]:
    """Yield every model that learns facts, with each of its learning rates."""
    for kind, (_, _, rates) in FACTS_KINDS.items():
        for rate in rates:
            yield kind, rate


MASKS = {"both ways": "padding_mask", "only back": "decoder_mask"}
"""Mask for each direction of attention in the models that fill gaps."""


def layer_class(name: str, lesson: dict[str, Any]) -> type[nn.Module]:
    """Return the class of a layer, from ``parts`` if it is an exercise, otherwise from the lesson."""
    return getattr(lesson["parts"], name, None) or lesson[name]


def losses(setting: Setting, lesson: dict[str, Any]) -> list[float]:
    """Return the final loss for each seed."""
    names = {"post-norm": "EncoderLayer", "pre-norm": "PreNormEncoderLayer"}
    train, (name, depth, *rest) = lesson["name_the_token_before"], setting
    return [round(train(layer_class(names[name], lesson), depth, seed, *rest), 2) for seed in SEEDS]


def facts(kind: str, rate: float, lesson: dict[str, Any]) -> list[float]:
    """Return the fraction of facts recalled after training, for each seed."""
    name, depth, _ = FACTS_KINDS[kind]
    return [round(lesson["learn_facts"](layer_class(name, lesson), depth, seed, rate), 2) for seed in SEEDS]


def gaps(mask: str, lesson: dict[str, Any]) -> list[float]:
    """Return the fraction of months whose first letter a model with this mask predicts, for each seed."""
    return [round(lesson["fill_gaps"](getattr(lesson["parts"], MASKS[mask]), seed)[1], 2) for seed in SEEDS]


def main() -> None:
    """Train and store the runs that are missing from the file."""
    torch.set_num_threads(1)
    FILE.parent.mkdir(exist_ok=True)
    stored = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
    card = {"command": COMMAND, **{table: stored.get(table, []) for table in TABLES}}
    lesson = defined(NEEDED, LESSON)

    def store(table: str, *row: Any) -> None:
        card[table].append(row)
        FILE.write_text(json.dumps(card) + "\n", encoding="utf-8")
        print(*row)

    known = {tuple(row[:-1]) for row in card["facts"]}
    for kind, rate in facts_settings():
        if (kind, rate) not in known:
            store("facts", kind, rate, facts(kind, rate, lesson))
    trained = {Setting(*row[:-1]) for row in card["runs"]}
    for setting in settings():
        if setting not in trained:
            store("runs", *setting, losses(setting, lesson))
    for mask in MASKS:
        if mask not in dict(card["gaps"]):
            store("gaps", mask, gaps(mask, lesson))
    if not card["heads"]:
        model, _ = lesson["fill_gaps"](lesson["parts"].padding_mask, SEEDS[-1])
        for weights in lesson["attention_of_the_gap"](model).tolist():
            store("heads", *(round(weight, 2) for weight in weights))


if __name__ == "__main__":
    main()
