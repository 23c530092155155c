"""Train the stored runs for lesson 06: layers with and without each part, at several depths and learning rates.

``python -m authoring.train_stack_runs`` uses the lesson's own code and stores the results for the lesson. The command
takes about fifteen minutes on one core. If you interrupt the command, run it again to train the remaining models.
"""

import json
from collections.abc import Iterator
from itertools import product
from typing import Any, NamedTuple

import torch
from torch import nn

from authoring.stored_runs import defined
from transformer_course.stored_models.stored_model import FOLDER

COMMAND = "python -m authoring.train_stack_runs"
FILE = FOLDER / "stack-runs" / "results.json"
LESSON = "06_encoder"
NEEDED = {
    "size",
    "alike",
    "stack",
    "as_drawn",
    "measure",
    "NormsOnly",
    "Stacked",
    "fit",
    "learn_facts",
    "draw_texts",
    "name_the_token_before",
}
NEEDED |= {"NoFFN", "NoReLU", "SumsOnly", "PreNormNoFFN"}
NEEDED |= {"days", "texts", "CHARACTERS", "LENGTH", "encode", "tests", "training", "GapFiller", "draw_gaps"}
NEEDED |= {"text_rows", "months_at", "wanted_letters", "questions", "fill_gaps", "attention_of_the_gap"}
SEEDS, TABLES = (0, 1, 2), ("facts", "runs", "gaps", "letters", "heads", "default_matrices")
FACTS_KINDS = {
    "one layer": ("EncoderLayer", 1, (0.003, 0.01, 0.03)),
    "one layer without FFN": ("NoFFN", 1, (0.003, 0.01)),
    "one layer without ReLU": ("NoReLU", 1, (0.003, 0.01)),
    "three attention layers": ("NoFFN", 3, (0.003, 0.01)),
    "one layer, pre-norm": ("PreNormEncoderLayer", 1, (0.003, 0.01, 0.03)),
    "three attention layers, pre-norm": ("PreNormNoFFN", 3, (0.003, 0.01)),
    "one layer, sums only": ("SumsOnly", 1, (0.003, 0.01, 0.03)),
}
"""Models that learn facts: class of the layers, number of layers, and learning rates."""
FACTS_STEPS, LONG_FACTS_STEPS, GAPS_STEPS = 250, 1000, (300, 1200)
RUNS = [("post-norm", 8, 0.003, 1000, 0), ("post-norm", 8, 0.003, 1000, 300)]
RUNS += [("post-norm", 8, 0.001, 1000, 0), ("post-norm", 4, 0.003, 1000, 0), ("post-norm", 12, 0.003, 1000, 300)]
RUNS += [("pre-norm", 8, 0.003, 200, 0), ("pre-norm", 8, 0.001, 200, 0)]
"""Stacks that predict the previous token: layout, depth, learning rate, steps, and steps of warm-up."""
UNTRAINED = {"norms only": "NormsOnly", "sums only": "SumsOnly"}
UNTRAINED |= {"post-norm": "EncoderLayer", "pre-norm": "PreNormEncoderLayer"}
UNTRAINED_DEPTHS = (24, 96)
"""Classes of the layers in stacks that are measured with torch's default matrices, and their depths."""


class Setting(NamedTuple):
    """The settings of one of the lesson's stacks, except the random seed."""

    kind: str
    depth: int
    rate: float
    steps: int
    warmup: int


def settings() -> Iterator[Setting]:
    """Yield every setting of the stacks that predict the previous token."""
    for run in RUNS:
        yield Setting(*run)


def facts_settings() -> Iterator[tuple[str, float, int]]:
    """Yield every model that learns facts, with each of its learning rates and numbers of steps."""
    for kind, (_, _, rates) in FACTS_KINDS.items():
        for rate in rates:
            yield kind, rate, FACTS_STEPS
        if "sums only" not in kind:
            yield kind, 0.01, LONG_FACTS_STEPS


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


def facts(kind: str, rate: float, steps: int, lesson: dict[str, Any]) -> list[float]:
    """Return the fraction of facts recalled after training, for each seed."""
    name, depth, _ = FACTS_KINDS[kind]
    kind_of_layer = layer_class(name, lesson)
    return [round(lesson["learn_facts"](kind_of_layer, depth, seed, rate, steps), 2) for seed in SEEDS]


def gaps(mask: str, steps: int, lesson: dict[str, Any]) -> list[float]:
    """Return the fraction of months whose first letter a model with this mask predicts, for each seed."""
    make_mask = getattr(lesson["parts"], MASKS[mask])
    return [round(lesson["fill_gaps"](make_mask, seed, steps)[1], 2) for seed in SEEDS]


def default_matrices(name: str, depth: int, lesson: dict[str, Any]) -> dict[str, list[float]]:
    """Return the measures of a stack's last layer with torch's default matrices, for each seed."""
    kind = layer_class(UNTRAINED[name], lesson)
    found = [lesson["measure"](kind, seed, depth, "torch's default") for seed in SEEDS]
    return {what: [float(f"{run[what][-1]:.2g}") for run in found] for what in ("cosine", "RMS", "w_q")}


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
    for facts_setting in facts_settings():
        if facts_setting not in known:
            store("facts", *facts_setting, facts(*facts_setting, lesson))
    trained = {Setting(*row[:-1]) for row in card["runs"]}
    for setting in settings():
        if setting not in trained:
            store("runs", *setting, losses(setting, lesson))
    filled = {tuple(row[:-1]) for row in card["gaps"]}
    for mask, steps in product(MASKS, GAPS_STEPS):
        if (mask, steps) not in filled:
            store("gaps", mask, steps, gaps(mask, steps, lesson))
    if not card["heads"]:
        fillers = [lesson["fill_gaps"](lesson["parts"].padding_mask, seed)[0] for seed in SEEDS]
        letters, weights = zip(*map(lesson["attention_of_the_gap"], fillers), strict=True)
        for letter in letters:
            store("letters", letter)
        for row in weights[-1].tolist():
            store("heads", *(round(weight, 2) for weight in row))
    measured = {tuple(row[:-1]) for row in card["default_matrices"]}
    for stack in product(UNTRAINED, UNTRAINED_DEPTHS):
        if stack not in measured:
            store("default_matrices", *stack, default_matrices(*stack, lesson))


if __name__ == "__main__":
    main()
