"""Measure how often lesson 10's model accepts the tokens of small drafts, at several stages of its training.

``python -m authoring.train_draft_runs`` trains the lesson's model for up to 3,000 steps, and two small drafts: one on
the text, and one distilled from the model. The command takes about ten minutes on one core.
"""

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from authoring.stored_runs import defined, store_runs
from transformer_course.stored_models.stored_model import FOLDER

COMMAND = "python -m authoring.train_draft_runs"
FILE = FOLDER / "draft-runs" / "accepted.json"
LESSON = "10_inference"
NEEDED = {"train_texts", "characters", "index", "BOS", "train_ids", "held_out", "LanguageModel", "loss_of", "trained"}
NEEDED |= {"n_grams", "unigram", "bigram", "trigram", "before", "drafts"}
SEEDS, STEPS, DRAFT_STEPS = (0, 1, 2), (100, 300, 1000, 3000), 1000
DRAFT_SIZES = {"d_model": 32, "n_heads": 2, "n_layers": 1}
TEXT_DRAFT, DISTILLED = "small model", "small model, distilled"


def accepted(p: Tensor, q: Tensor) -> float:
    """Return the mean probability that a token drawn from q is accepted: the sum of min(p, q)."""
    return torch.minimum(p, q).sum(dim=-1).mean().item()


def train_draft(seed: int, lesson: dict[str, Any], loss_of: Callable[[nn.Module, Tensor], Tensor]) -> nn.Module:
    """Train a small model on the lesson's text in the same way as the lesson trains its own small model."""
    torch.manual_seed(100 + seed)
    draft, ids, n = lesson["LanguageModel"](**DRAFT_SIZES), lesson["train_ids"], lesson["N"]
    optimizer = torch.optim.AdamW(draft.parameters(), fused=True)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.01, total_steps=DRAFT_STEPS)
    for _ in range(DRAFT_STEPS):
        starts = torch.randint(len(ids) - n, (16, 1))
        loss = loss_of(draft, F.pad(ids[starts + torch.arange(n)], (1, 0), value=lesson["BOS"]))
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(draft.parameters(), 1.0)
        optimizer.step()
        schedule.step()
    return draft.requires_grad_(False)


def distillation_loss(teacher: nn.Module) -> Callable[[nn.Module, Tensor], Tensor]:
    """Return the cross-entropy between a teacher's distributions and a draft's."""

    def loss_of(draft: nn.Module, tokens: Tensor) -> Tensor:
        with torch.no_grad():
            p = teacher(tokens).softmax(dim=-1)
        return -(p * draft(tokens).log_softmax(dim=-1)).sum(dim=-1).mean()

    return loss_of


def row(seed: int, steps: int, text_draft: nn.Module, lesson: dict[str, Any]) -> dict[str, Any]:
    """Train one model and its distilled draft, and return the fraction of accepted tokens for each draft."""
    model = lesson["trained"](seed, steps)
    distilled = train_draft(seed, lesson, distillation_loss(model))
    read = lesson["held_out"][:, :-1]
    p = model(read)[:, 2:].softmax(dim=-1)
    drafts = lesson["drafts"] | {
        name: draft(read)[:, 2:].softmax(dim=-1)
        for name, draft in {TEXT_DRAFT: text_draft, DISTILLED: distilled}.items()
    }
    found = {name: round(accepted(p, q), 3) for name, q in drafts.items() if name != "unigram"}
    return {"seed": seed, "steps": steps, "loss": round(lesson["loss_of"](model).item(), 3), "accepted": found}


def rows() -> Iterator[dict[str, Any]]:
    """Yield a row for each seed and number of training steps."""
    lesson = defined(NEEDED, LESSON)
    for seed in SEEDS:
        text_draft = train_draft(seed, lesson, lesson["loss_of"])
        for steps in STEPS:
            yield row(seed, steps, text_draft, lesson)


if __name__ == "__main__":
    torch.set_num_threads(1)
    store_runs(FILE, COMMAND, lambda: {"runs": list(rows())})
