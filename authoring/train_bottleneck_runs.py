"""Train lesson 00's translators with several settings and three seeds, and store the results for the lesson.

``python -m authoring.train_bottleneck_runs`` uses the lesson's own code. It writes the accuracies of all runs and the
parameters of the three models that the lesson loads. The command takes about eight minutes on one core.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from authoring.stored_runs import defined, store_runs
from transformer_course.stored_models.stored_model import FOLDER
from transformer_lab.models.recurrent import AttentiveRecurrentTranslator, RecurrentTranslator
from transformer_lab.tensor_files import write_tensors

COMMAND = "python -m authoring.train_bottleneck_runs"
FILE, MODELS = FOLDER / "bottleneck-runs" / "accuracy.json", FOLDER / "bottleneck-runs" / "models.safetensors"
LESSON, NEEDED = "00_bottleneck", {"before", "train", "digits_to_copy", "accuracy", "n_digits"}
NEEDED |= {"days", "pairs", "ids", "encoded", "hidden", "known", "sources", "targets", "dates"}
SEEDS = (0, 1, 2)
ONE_VECTOR, ATTENTION = RecurrentTranslator, AttentiveRecurrentTranslator
SHORTEST, LONGEST = 1, 16
COPYING: dict[str, tuple[type[RecurrentTranslator], int, int, float, float, int]] = {
    "one vector, width 32": (ONE_VECTOR, 32, 300, 0.008, 0.0, SHORTEST),
    "one vector, width 32, 900 steps": (ONE_VECTOR, 32, 900, 0.008, 0.0, SHORTEST),
    "one vector, width 64": (ONE_VECTOR, 64, 300, 0.008, 0.0, SHORTEST),
    "one vector, width 64, 900 steps": (ONE_VECTOR, 64, 900, 0.008, 0.0, SHORTEST),
    "one vector, width 64, open gates": (ONE_VECTOR, 64, 300, 0.008, 4.0, SHORTEST),
    "one vector, width 64, a third of the rate": (ONE_VECTOR, 64, 300, 0.0027, 0.0, SHORTEST),
    "one vector, width 64, open gates, a third of the rate": (ONE_VECTOR, 64, 300, 0.0027, 4.0, SHORTEST),
    "one vector, width 64, only 16 digits": (ONE_VECTOR, 64, 300, 0.008, 0.0, LONGEST),
    "one vector, width 64, open gates, only 16 digits": (ONE_VECTOR, 64, 300, 0.008, 4.0, LONGEST),
    "attention, width 32": (ATTENTION, 32, 300, 0.008, 0.0, SHORTEST),
    "attention, width 32, a third of the rate": (ATTENTION, 32, 300, 0.0027, 0.0, SHORTEST),
}
"""Models that copy up to 16 digits: class, width, training steps, learning rate, the amount added to the bias of the
update gates, and the length of the shortest training text.
"""
BATCH_SIZE, WIDTH = 32, 64
REMEMBERING: dict[str, tuple[type[RecurrentTranslator], int, int, float]] = {
    "40 digits": (ONE_VECTOR, 40, 40, 0.0),
    "40 digits, open gates": (ONE_VECTOR, 40, 40, 4.0),
    "1 to 40 digits": (ONE_VECTOR, 1, 40, 0.0),
    "40 digits, attention": (ATTENTION, 40, 40, 0.0),
    "80 digits": (ONE_VECTOR, 80, 80, 0.0),
}
"""Models that recall the first of 40 or 80 digits: class, lengths of the shortest and the longest training text, and
the amount added to the bias of the update gates.
"""
STEPS_AND_RATES = ((150, 0.008), (450, 0.008), (150, 0.024), (300, 0.0027))


def seeded(kind: type[RecurrentTranslator], width: int, gate_bias: float, seed: int) -> RecurrentTranslator:
    """Return an untrained digit translator with ``gate_bias`` added to the bias of its update gates.

    PyTorch stores the biases of the update gates in the second third of ``bias_hh_l0``.
    """
    torch.manual_seed(seed)
    model = kind(11, 11, width)
    with torch.no_grad():
        model.encoder.get_parameter("bias_hh_l0")[width : 2 * width] += gate_bias
    return model


def copied(name: str, seed: int, lesson: dict[str, Any]) -> list[float]:
    """Return the accuracy of a model in ``COPYING`` for each number of digits that the lesson tests."""
    kind, width, steps, lr, gate_bias, shortest = COPYING[name]
    draw = lesson["digits_to_copy"] if shortest == SHORTEST else longest_to_copy
    model = lesson["train"](seeded(kind, width, gate_bias, seed), draw, steps=steps, lr=lr)
    return [round(lesson["accuracy"](model, n), 3) for n in lesson["n_digits"]]


def longest_to_copy() -> tuple[Tensor, Tensor]:
    """Draw a batch of 16 digits to copy, without the shorter texts of the lesson's ``digits_to_copy``."""
    digits = torch.randint(1, 11, (64, LONGEST))
    return digits, digits


def first_digits(shortest: int, longest: int) -> Callable[[], tuple[Tensor, Tensor]]:
    """Return a function that draws ``shortest`` to ``longest`` digits for a batch, with the first digit as target."""

    def draw() -> tuple[Tensor, Tensor]:
        n = int(torch.randint(shortest, longest + 1, ()))
        digits = torch.randint(1, 11, (BATCH_SIZE, n))
        return digits, digits[:, :1]

    return draw


@torch.no_grad()
def remembered(name: str, steps: int, lr: float, seed: int, lesson: dict[str, Any]) -> float:
    """Return the accuracy of a model in ``REMEMBERING`` at recalling the first digit of the longest training texts."""
    kind, shortest, longest, gate_bias = REMEMBERING[name]
    with torch.enable_grad():
        untrained, draw = seeded(kind, WIDTH, gate_bias, seed), first_digits(shortest, longest)
        model = lesson["train"](untrained, draw, steps=steps, lr=lr)
    digits = torch.randint(1, 11, (500, longest))
    predicted = model(digits, torch.zeros(500, 1, dtype=torch.int64)).argmax(dim=-1)
    return round((predicted == digits[:, :1]).float().mean().item(), 3)


def models(lesson: dict[str, Any]) -> dict[str, RecurrentTranslator]:
    """Train the models that the lesson loads: a date translator and two models that copy digits."""
    train, n_characters = lesson["train"], len(lesson["ids"]) + 1
    torch.manual_seed(0)
    translator = train(ATTENTION(n_characters, n_characters, 64), lesson["dates"], steps=200)
    one_vector = train(seeded(ONE_VECTOR, 64, gate_bias=0.0, seed=0), lesson["digits_to_copy"])
    attention = train(seeded(ATTENTION, 32, gate_bias=0.0, seed=0), lesson["digits_to_copy"])
    return {"translator": translator, "one vector": one_vector, "attention": attention}


def store(trained: dict[str, RecurrentTranslator]) -> None:
    """Write the parameters of all models to one file in half precision."""
    tensors = {f"{name}.{key}": t.half() for name, model in trained.items() for key, t in model.state_dict().items()}
    write_tensors(MODELS, tensors, {})


def runs() -> dict[str, Any]:
    """Write the models that the lesson loads and return the accuracies for each of the lesson's tables."""
    lesson = defined(NEEDED, LESSON)
    copying = {name: [copied(name, seed, lesson) for seed in SEEDS] for name in COPYING}
    remembering = [
        {"task": name, "steps": steps, "lr": lr, "accuracy": [remembered(name, steps, lr, s, lesson) for s in SEEDS]}
        for steps, lr in STEPS_AND_RATES
        for name in REMEMBERING
    ]
    MODELS.parent.mkdir(exist_ok=True)
    store(models(lesson))
    return {"copying": copying, "remembering": remembering}


if __name__ == "__main__":
    store_runs(FILE, COMMAND, runs)
