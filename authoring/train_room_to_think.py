"""Train lesson 14's policies, which may work out an answer and are rewarded only for its last letter.

``python -m authoring.train_room_to_think`` trains the lesson's GPT with the lesson's own code for each seed and stores
the results for the lesson. Two controls follow: a judge that rewards at random, and a loss averaged within each answer.
It takes about four minutes on one core.
"""

import copy
import random
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, nn

from authoring.stored_runs import defined, store_runs
from transformer_course import parts
from transformer_course.stored_models.stored_model import FOLDER
from transformer_lab.data.tokenizers import BOS_ID, EOS_ID, PAD_ID

COMMAND = "python -m authoring.train_room_to_think"
FILE = FOLDER / "room-to-think" / "runs.json"
LESSON = "14_post_training"
NEEDED = {"days", "french", "letters", "padded", "untrained", "train", "sample", "answers_in", "token_log_p", "puzzle"}
SEEDS = (0, 1, 2)
ALPHABET, N_HOPS = "abcdef", 4
N_STEPS, LR, BATCH_SIZE, FRACTION_WORKED_OUT = 1000, 2e-3, 64, 0.7
"""Steps, learning rate and batch size of fine-tuning, and the fraction of training answers that are worked out."""
N_BATCHES, N_PROMPTS, N_SAMPLES, GRPO_LR = 40, 24, 8, 5e-4
N_QUESTIONS, N_VOTES = 100, 16
RANDOM_REWARD = 0.8
"""Probability of a reward from the random judge, about that of the exact judge before GRPO."""


def fine_tuned(lesson: dict[str, Any], seed: int, n_steps: int = N_STEPS) -> nn.Module:
    """Return the lesson's GPT, fine-tuned on short answers and on answers that are worked out step by step."""
    random.seed(seed)
    torch.manual_seed(seed)
    model: nn.Module = lesson["untrained"]()
    encode = lesson["letters"].encode

    def loss(model: nn.Module) -> Tensor:
        questions = [lesson["puzzle"](ALPHABET, N_HOPS) for _ in range(BATCH_SIZE)]
        prompts = [[BOS_ID, *encode(question).ids] for question, _ in questions]
        answers = [way if random.random() < FRACTION_WORKED_OUT else way[-1] for _, way in questions]
        rows = [[*p, *encode(a).ids, EOS_ID] for p, a in zip(prompts, answers, strict=True)]
        tokens, lengths = lesson["padded"](rows), torch.tensor([len(p) for p in prompts])
        return parts.next_token_loss(model(tokens), parts.answer_labels(tokens, lengths, PAD_ID), PAD_ID)

    for _ in lesson["train"](model, n_steps, LR, loss):
        pass
    return model


def answered(lesson: dict[str, Any], model: nn.Module, n_prompts: int, n_each: int) -> dict[str, Any]:
    """Sample puzzles and answers, and grade each answer by its last letter."""
    questions = [lesson["puzzle"](ALPHABET, N_HOPS) for _ in range(n_prompts)]
    n_new = N_HOPS + 2
    tokens, lengths = lesson["sample"](model, [question for question, _ in questions], n_each, n_new)
    rows = lesson["answers_in"](tokens, lengths, n_new).tolist()
    texts = [lesson["letters"].decode(row[: row.index(EOS_ID)]) if EOS_ID in row else "" for row in rows]
    last = [way[-1] for _, way in questions for _ in range(n_each)]
    right = [float(text[-1:] == letter) for text, letter in zip(texts, last, strict=True)]
    return {"tokens": tokens, "lengths": lengths, "texts": texts, "right": torch.tensor(right).view(n_prompts, n_each)}


def measured(lesson: dict[str, Any], model: nn.Module, seed: int) -> dict[str, float]:
    """Return a model's accuracy on new questions and statistics about its answers."""
    random.seed(1000 + seed)
    torch.manual_seed(1000 + seed)
    found = answered(lesson, model, N_QUESTIONS, N_VOTES)
    right, texts = found["right"], found["texts"]
    n_letters = torch.tensor([float(len(text)) for text in texts]).view_as(right)
    groups = [Counter(text[-1:] for text in texts[i : i + N_VOTES]) for i in range(0, len(texts), N_VOTES)]
    winners = [group.most_common(1)[0][0] for group in groups]
    majority = [
        any(right[i, j] and texts[i * N_VOTES + j][-1:] == winner for j in range(N_VOTES))
        for i, winner in enumerate(winners)
    ]
    numbers = {
        "letters": n_letters.mean(),
        "worked out": (n_letters > 1).float().mean(),
        "right, at once": right[n_letters == 1].mean(),
        "right, worked out": right[n_letters > 1].mean(),
        "pass@1": right.mean(),
        "majority of 16": torch.tensor(majority).float().mean(),
        "pass@16": (right.sum(dim=1) > 0).float().mean(),
    }
    return {name: round(number.item(), 2) for name, number in numbers.items()}


def random_judge(right: Tensor) -> Tensor:
    """Return rewards that do not depend on the answers."""
    return (torch.rand(right.shape) < RANDOM_REWARD).float()


def loss_averaged_per_answer(log_p: Tensor, *others: Tensor, real: Tensor, clip: float, beta: float) -> Tensor:
    """Return GRPO's loss with every answer counting the same, however long it is."""
    rows = zip(log_p, *others, real, strict=True)
    losses = [parts.grpo_loss(*(x[None] for x in row), clip, beta) for row in rows]
    return torch.stack(losses).mean()


def loss_averaged_over_tokens(log_p: Tensor, *others: Tensor, real: Tensor, clip: float, beta: float) -> Tensor:
    """Return GRPO's loss as the lesson writes it: every token of the batch counts the same."""
    loss: Tensor = parts.grpo_loss(log_p, *others, real, clip, beta)
    return loss


def train_with_grpo(
    lesson: dict[str, Any],
    reference: nn.Module,
    seed: int,
    n_batches: int = N_BATCHES,
    judge: Callable[[Tensor], Tensor] = lambda right: right,
    loss: Callable[..., Tensor] = loss_averaged_over_tokens,
) -> tuple[nn.Module, list[float], list[float]]:
    """Train a policy with GRPO; return it with the mean reward and the mean answer length of each batch."""
    random.seed(seed)
    torch.manual_seed(seed)
    model, rewards, letters = copy.deepcopy(reference), list[float](), list[float]()

    def losses() -> Iterator[Tensor]:
        while True:
            found = answered(lesson, model, N_PROMPTS, N_SAMPLES)
            reward = judge(found["right"])
            rewards.append(round(reward.mean().item(), 3))
            letters.append(round(sum(map(len, found["texts"])) / len(found["texts"]), 3))
            advantages = parts.group_advantages(reward).flatten()
            real = parts.answer_labels(found["tokens"], found["lengths"], PAD_ID)[:, 1:] != PAD_ID
            log_p = lesson["token_log_p"](model, found["tokens"])
            before = log_p.detach()
            yield loss(log_p, before, before, advantages, real=real, clip=0.2, beta=0.0)
            log_p = lesson["token_log_p"](model, found["tokens"])
            yield loss(log_p, before, before, advantages, real=real, clip=0.2, beta=0.0)

    batches = losses()
    for _ in lesson["train"](model, 2 * n_batches, GRPO_LR, lambda _: next(batches)):
        pass
    return model, rewards, letters


STAGES: dict[str, dict[str, Any]] = {
    "GRPO": {},
    "GRPO, averaged per answer": {"loss": loss_averaged_per_answer},
    "GRPO, random judge": {"judge": random_judge},
}
"""The options of each run of GRPO: the lesson's own, and two controls."""


def print_rows(rows: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Print a summary of each row before yielding it, to show progress."""
    for row in rows:
        print(row["seed"], row["stage"], row["pass@1"], row["letters"], flush=True)
        yield row


def runs() -> Iterator[dict[str, Any]]:
    """Yield a row for each seed and training stage."""
    lesson = defined(NEEDED, LESSON)
    for seed in SEEDS:
        tuned = fine_tuned(lesson, seed)
        yield {"seed": seed, "stage": "SFT", **measured(lesson, tuned, seed)}
        for stage, options in STAGES.items():
            policy, rewards, letters = train_with_grpo(lesson, tuned, seed, **options)
            curves = {"reward by batch": rewards, "letters by batch": letters}
            yield {"seed": seed, "stage": stage, **measured(lesson, policy, seed), **curves}


if __name__ == "__main__":
    store_runs(FILE, COMMAND, lambda: {"runs": list(print_rows(runs()))})
