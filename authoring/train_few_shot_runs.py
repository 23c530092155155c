"""Train the stored runs for lesson 09: small GPTs that infer a rule from examples in the prompt.

``python -m authoring.train_few_shot_runs`` uses the lesson's own code and stores the results for the lesson. The
command takes about three minutes on one core.
"""

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn

from authoring.stored_runs import defined, store_runs
from transformer_course.stored_models.stored_model import FOLDER

COMMAND = "python -m authoring.train_few_shot_runs"
FILE = FOLDER / "few-shot-runs" / "right.json"
LESSON = "09_language_model"
N_BLOCKS, LEARNING_RATES, SEEDS = (1, 2), (0.002, 0.006, 0.02), range(3)
NEEDED = {"initialized", "train", "rules", "texts_by", "learn_rules"}
N_TEXTS, TESTS = 2000, {"right": "rules", "new": "new_rules"}

Run = dict[str, Any]
"""A run's ``n_blocks``, ``rate`` and ``seed``, and its accuracy after each number of examples: ``right`` on texts that
follow the training rules, ``new`` on texts that follow new rules.
"""


@torch.no_grad()
def accuracy_by_examples(model: nn.Module, texts: Tensor) -> list[float]:
    """Return the model's accuracy after 0, 1, 2, 3 and 4 examples."""
    return (model(texts)[:, ::2].argmax(dim=-1) == texts[:, 1::2]).float().mean(dim=0).tolist()


def best_possible() -> list[float]:
    """Return the accuracy of the most common answer among all rules that are consistent with the examples so far."""
    lesson = defined(NEEDED, LESSON)
    torch.manual_seed(0)
    rules, texts = lesson["rules"], lesson["texts_by"](lesson["rules"], 2 * N_TEXTS)
    fits, fractions = torch.ones(len(texts), len(rules)), []
    for question, answer in zip(texts[:, ::2].T, texts[:, 1::2].T, strict=True):
        of_rules = 10 + rules[:, question].T  # [text, rule]
        votes = torch.zeros(len(texts), 20).scatter_add(1, of_rules, fits)
        fractions.append(round((votes.argmax(dim=1) == answer).float().mean().item(), 3))
        fits = fits * (of_rules == answer[:, None])
    return fractions


def runs(
    n_blocks: Iterable[int] = N_BLOCKS, rates: Iterable[float] = LEARNING_RATES, seeds: Iterable[int] = SEEDS
) -> list[Run]:
    """Train every combination and return the results, rounded to three decimals."""
    lesson = defined(NEEDED, LESSON)

    def run(n_blocks: int, rate: float, seed: int) -> Run:
        torch.manual_seed(seed)
        model = lesson["learn_rules"](n_blocks, rate)
        texts = {name: lesson["texts_by"](lesson[rules], N_TEXTS) for name, rules in TESTS.items()}
        right = {name: [round(x, 3) for x in accuracy_by_examples(model, each)] for name, each in texts.items()}
        return {"n_blocks": n_blocks, "rate": rate, "seed": seed, **right}

    return [run(n, rate, seed) for n in n_blocks for rate in rates for seed in seeds]


if __name__ == "__main__":
    torch.set_num_threads(1)
    store_runs(FILE, COMMAND, lambda: {"best": best_possible(), "runs": runs()})
