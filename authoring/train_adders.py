"""Train the runs stored for the lesson on tokenizers: small GPTs that add numbers, with digits grouped in three ways.

``python -m authoring.train_adders`` trains the course's GPT for each setting, grouping, learning rate and seed with
lesson 09's own code, and stores the results for the lesson. It takes about twelve minutes on one core.
"""

import random
from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from authoring.stored_runs import defined, store_runs
from transformer_course import parts
from transformer_course.stored_models.stored_model import FOLDER
from transformer_lab.data.tokenizers import BOS_ID, EOS_ID, PAD_ID
from transformer_lab.training.muon import make_muon

COMMAND = "python -m authoring.train_adders"
FILE = FOLDER / "adder-runs" / "right.json"
LESSON = "09_language_model"
NEEDED = {"train", "initialized"}
GROUPINGS = ("from the left", "from the right", "single digits")
GROUP_SIZE = 2
"""Digits in a group, except in the first or the last group of a number."""
SETTINGS: tuple[dict[str, Any], ...] = ({"n_digits": (2, 3), "n_steps": 1000}, {"n_digits": (2, 4), "n_steps": 1500})
"""Fewest and most digits of a number to add, and the steps of training."""
LEARNING_RATES, SEEDS = (0.015, 0.03, 0.06), (0, 1, 2)
BATCH_SIZE, N_TESTED = 64, 1000

SYMBOLS = [*(f"{n:0{width}}" for width in (1, 2) for n in range(10**width)), "+", "="]
IDS = {symbol: token for token, symbol in enumerate(SYMBOLS, start=1 + max(PAD_ID, BOS_ID, EOS_ID))}
VOCAB_SIZE = 1 + max(IDS.values())

Sum = tuple[str, str, str]
"""Two numbers and their sum, in digits."""


def grouped(digits: str, grouping: str) -> list[str]:
    """Return the digits of a number in groups."""
    size = 1 if grouping == "single digits" else GROUP_SIZE
    first = len(digits) % size if grouping == "from the right" else 0
    return [digits[:first]] * (first > 0) + [digits[i : i + size] for i in range(first, len(digits), size)]


def draw_sum(rng: random.Random, n_digits: tuple[int, int]) -> Sum:
    """Draw two numbers and return them with their sum, in digits; every length is as likely as the others."""
    a, b = (rng.randrange(10 ** (n - 1), 10**n) for n in (rng.randint(*n_digits) for _ in range(2)))
    return str(a), str(b), str(a + b)


def is_aligned(numbers: Sum) -> bool:
    """Return whether groups from the left are cut at the same places in both numbers and their sum."""
    return len({len(digits) % GROUP_SIZE for digits in numbers}) == 1


def encoded(numbers: Sum, grouping: str) -> tuple[list[int], list[int]]:
    """Return the tokens of a question and of its answer."""
    a, b, total = ([IDS[group] for group in grouped(digits, grouping)] for digits in numbers)
    return [BOS_ID, *a, IDS["+"], *b, IDS["="]], [*total, EOS_ID]


def batch(pairs: Sequence[tuple[list[int], list[int]]]) -> tuple[Tensor, Tensor]:
    """Return the padded tokens of questions with their answers, and labels that leave the questions out."""
    tokens = pad_sequence([torch.tensor(q + a) for q, a in pairs], batch_first=True, padding_value=PAD_ID)
    return tokens, parts.answer_labels(tokens, torch.tensor([len(question) for question, _ in pairs]), PAD_ID)


@torch.no_grad()
def is_right(model: nn.Module, sums: Sequence[Sum], grouping: str) -> Tensor:
    """Return 1 for every sum that the model, decoding greedily, gets right to the last digit, and 0 for the others.

    Greedy decoding is right exactly if every correct token is the likeliest one after the correct tokens before it.
    """
    pairs = [encoded(numbers, grouping) for numbers in sums]
    tokens, labels = batch(pairs)
    hits = (model(tokens)[:, :-1].argmax(dim=-1) == labels[:, 1:]) | (labels[:, 1:] == PAD_ID)
    return hits.all(dim=1).float()


def trained_adder(
    lesson: dict[str, Any],
    grouping: str,
    tested: Collection[Sum],
    n_digits: tuple[int, int],
    n_steps: int,
    rate: float,
    seed: int,
) -> nn.Module:
    """Train the lesson's GPT on random sums, without the tested ones; only the answers count."""
    torch.manual_seed(seed)
    rng = random.Random(seed)
    model: nn.Module = parts.GPT(VOCAB_SIZE, context_length=32)
    model = lesson["initialized"](model)
    optimizers = make_muon(model, lr=rate, adamw_lr=rate / 5, weight_decay=0.01)

    def loss() -> Tensor:
        drawn = (numbers for numbers in iter(lambda: draw_sum(rng, n_digits), None) if numbers not in tested)
        pairs = [encoded(numbers, grouping) for numbers in islice(drawn, BATCH_SIZE)]
        tokens, labels = batch(pairs)
        value: Tensor = parts.next_token_loss(model(tokens), labels, PAD_ID)
        return value

    for _ in lesson["train"](model, optimizers, n_steps, loss):
        pass
    return model


def measured(
    lesson: dict[str, Any], grouping: str, sums: Sequence[Sum], setting: dict[str, Any], rate: float, seed: int
) -> dict[str, Any]:
    """Train an adder and return its setting and the fraction of sums that it gets right."""
    model = trained_adder(lesson, grouping, {*sums}, **setting, rate=rate, seed=seed)
    right = is_right(model.eval(), sums, grouping)
    aligned = torch.tensor([is_aligned(numbers) for numbers in sums])
    kinds = {"right": right, "aligned": right[aligned], "not aligned": right[~aligned]}
    row = {**setting, "grouping": grouping, "rate": rate, "seed": seed}
    row |= {name: round(some.mean().item(), 3) for name, some in kinds.items()}
    print(row, flush=True)
    return row


def runs() -> Iterator[dict[str, Any]]:
    """Yield a row for each run: for each setting and grouping, every rate with one seed, the best with all."""
    lesson = defined(NEEDED, LESSON)
    for setting in SETTINGS:
        rng = random.Random(1000)
        sums = [draw_sum(rng, setting["n_digits"]) for _ in range(N_TESTED)]
        for grouping in GROUPINGS:
            rows = [measured(lesson, grouping, sums, setting, rate, SEEDS[0]) for rate in LEARNING_RATES]
            best = max(rows, key=lambda row: row["right"])["rate"]
            yield from [*rows, *(measured(lesson, grouping, sums, setting, best, seed) for seed in SEEDS[1:])]


if __name__ == "__main__":
    torch.set_num_threads(1)
    store_runs(FILE, COMMAND, lambda: {"runs": list(runs())})
