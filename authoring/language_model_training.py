"""Train the stored language models in a run that can be stopped and resumed.

``train_gpt`` uses this module to train on Python's documentation, and ``train_plays`` to train on Shakespeare's plays.
"""

import hashlib
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Int
from tokenizers import Tokenizer
from torch import Tensor, nn

from authoring.model_card import STEPS_PER_REPORT, run_fields
from transformer_lab.atomic_write import atomic_write
from transformer_lab.data.tokenizers import BOS_ID, PAD_ID
from transformer_lab.models.language_model import LanguageModel
from transformer_lab.training.loss import batch_loss
from transformer_lab.training.metrics import bits_per_byte
from transformer_lab.training.muon import make_muon

SEED = 0
MUON_LR, ADAMW_LR, WEIGHT_DECAY, N_WARMUP_STEPS, COOLDOWN_FRACTION = 0.03, 6e-3, 0.01, 100, 0.2
N_FIRST_LOSSES = 8


def rate_factor(step: int, n_steps: int) -> float:
    """Return the learning rate at a step as a fraction of its peak: it warms up, stays constant, and decays to 0."""
    return min(1.0, (step + 1) / N_WARMUP_STEPS, (n_steps - step) / (COOLDOWN_FRACTION * n_steps))


def encoded(texts: Sequence[str], tokenizer: Tokenizer) -> Int[Tensor, " n"]:
    """Return the tokens of all texts as one sequence, with ``<bos>`` before each text."""
    return torch.tensor([token for text in texts for token in [BOS_ID, *tokenizer.encode(text).ids]])


class Training:
    """A training run that can be stopped, saved and resumed.

    Args:
        model: The untrained model.
        ids: Token IDs of the training text. Each row of a batch is a random excerpt of ``length`` + 1 tokens.
        batch: Batch size.
        length: Number of input tokens per row.

    Attributes:
        losses: The loss of each step so far, in nats per token.
        seconds: CPU time so far, in seconds.
    """

    def __init__(self, model: LanguageModel, ids: Int[Tensor, " n"], batch: int, length: int) -> None:
        self.model, self.ids, self.batch, self.length = model, ids, batch, length
        self.random = torch.Generator().manual_seed(SEED)
        self.optimizers = make_muon(self.model, MUON_LR, ADAMW_LR, WEIGHT_DECAY)
        self.peaks = [group["lr"] for group in self._groups()]
        self.losses: list[float] = []
        self.seconds = 0.0

    def draw(self) -> Int[Tensor, "batch n"]:
        """Return the next batch."""
        starts = torch.randint(len(self.ids) - self.length - 1, (self.batch, 1), generator=self.random)
        return self.ids[starts + torch.arange(self.length + 1)]

    def step(self, n_steps: int) -> float:
        """Run the next step of a run with ``n_steps`` steps and return its loss."""
        start = time.process_time()
        for group, peak in zip(self._groups(), self.peaks, strict=True):
            group["lr"] = peak * rate_factor(len(self.losses), n_steps)
        batch = self.draw()
        loss = batch_loss(self.model, (batch[:, :-1],), batch[:, 1:], PAD_ID) / (self.batch * self.length)
        self.model.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        for optimizer in self.optimizers:
            optimizer.step()
        self.losses.append(loss.item())
        self.seconds += time.process_time() - start
        return self.losses[-1]

    def _groups(self) -> list[dict[str, Any]]:
        """Return the optimizers' parameter groups. ``resume`` replaces these objects, so don't cache them."""
        return [group for optimizer in self.optimizers for group in optimizer.param_groups]

    def save(self, path: Path) -> None:
        """Save the run atomically."""
        state = {
            "model": self.model.state_dict(),
            "optimizers": [optimizer.state_dict() for optimizer in self.optimizers],
            "random": self.random.get_state(),
            "losses": self.losses,
            "seconds": self.seconds,
        }
        with atomic_write(path) as temporary:
            torch.save(state, temporary)

    def resume(self, path: Path) -> None:
        """Continue from a saved run."""
        state = torch.load(path)
        self.model.load_state_dict(state["model"])
        for optimizer, stored in zip(self.optimizers, state["optimizers"], strict=True):
            optimizer.load_state_dict(stored)
        self.random.set_state(state["random"])
        self.losses, self.seconds = state["losses"], state["seconds"]

    def run(self, n_steps: int, checkpoint: Path) -> None:
        """Run until ``n_steps`` steps are done, starting from the checkpoint if it exists and updating it regularly."""
        if checkpoint.exists():
            self.resume(checkpoint)
        checkpoint.parent.mkdir(exist_ok=True)
        while len(self.losses) < n_steps:
            self.step(n_steps)
            if len(self.losses) % STEPS_PER_REPORT == 0:
                self.save(checkpoint)
                mean = sum(self.losses[-STEPS_PER_REPORT:]) / STEPS_PER_REPORT
                minutes = self.seconds / 60
                print(f"step {len(self.losses)} of {n_steps}: loss {mean:.2f}, {minutes:.1f} minutes", flush=True)


@torch.no_grad()
def mean_loss(model: nn.Module, ids: Int[Tensor, " n"], length: int) -> float:
    """Return the mean loss on a text that is split into windows of ``length`` tokens."""
    windows = ids[: len(ids) // length * length].view(-1, length)
    losses = [batch_loss(model, (some[:, :-1],), some[:, 1:], PAD_ID).item() for some in torch.split(windows, 16)]
    return sum(losses) / (len(windows) * (length - 1))


def card(
    run: Training, training: Sequence[str], held_out: Sequence[str], tokenizer: Tokenizer, **about: Any
) -> dict[str, Any]:
    """Return the model card of a trained model.

    Args:
        run: The finished run.
        training: The training texts.
        held_out: Held-out texts, similar to the training texts.
        tokenizer: The model's tokenizer.
        about: Additional fields that depend on the command, such as ``command`` and ``data``.
    """
    ids = encoded(held_out, tokenizer)
    loss = mean_loss(run.model, ids, run.length)
    trained_on = "".join(training).encode()
    return {
        **about,
        "training_bytes": len(trained_on),
        "training_sha256": hashlib.sha256(trained_on).hexdigest(),
        "parameters": sum(p.numel() for p in run.model.parameters()),
        "tokens_per_step": run.batch * run.length,
        "held_out_loss": round(loss, 3),
        "held_out_bits_per_byte": round(bits_per_byte(loss, len(ids), sum(len(t.encode()) for t in held_out)), 3),
        **run_fields(run.losses, run.seconds, N_FIRST_LOSSES),
    }
