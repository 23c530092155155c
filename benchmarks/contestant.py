"""The base class of contestants: a model, with the workloads that it can run."""

from abc import ABC, abstractmethod
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from benchmarks.clock import Run
from benchmarks.work import LABEL_SMOOTHING, PAD, Batch, Work


class Contestant(ABC):
    """A model of one library. A subclass creates and calls it in the way that the library's documentation shows.

    Args:
        work: The workload that it will run.
    """

    name: ClassVar[str]
    tasks: ClassVar[tuple[str, ...]]
    """The tasks that it can run."""
    differs: ClassVar[str] = ""
    """A difference from ours that cannot be turned off."""
    model: nn.Module

    @abstractmethod
    def logits(self, batch: Batch) -> Tensor:
        """Return the logits of the next token at every position of the target."""

    def loss(self, batch: Batch) -> Tensor:
        """Return the mean loss of the real tokens, by default torch's cross-entropy of all logits."""
        smoothing = 0.0 if isinstance(self, LanguageContestant) else LABEL_SMOOTHING
        logits, labels = self.logits(batch), batch.labels
        return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=PAD, label_smoothing=smoothing)

    def greedy(self, source: Tensor) -> Tensor:
        """Generate ``NEW_TOKENS`` tokens for each source, always the most probable one."""
        raise NotImplementedError

    def sample(self, source: Tensor) -> Tensor:
        """Generate ``NEW_TOKENS`` tokens for each source, each drawn from the ``N_KEPT`` most probable ones."""
        raise NotImplementedError

    def prefill(self, source: Tensor) -> Tensor:
        """Generate one token for each source, the most probable one."""
        raise NotImplementedError

    def beam(self, source: Tensor) -> Tensor:
        """Generate ``NEW_TOKENS`` tokens for each source with a beam of 4."""
        raise NotImplementedError

    def run(self, work: Work, batch: Batch) -> Run:
        """Return the function to time."""
        if work.task.startswith("train"):
            self.model.train()
            return self.training_step(batch)
        self.model.eval()
        run = {
            "forward": lambda: self.logits(batch),
            "evaluate": lambda: self.loss(batch),
            "greedy": lambda: self.greedy(batch.source),
            "sample": lambda: self.sample(batch.source),
            "prefill": lambda: self.prefill(batch.source),
            "beam": lambda: self.beam(batch.source),
        }[work.task.split()[0]]
        return torch.inference_mode()(run)

    def training_step(self, batch: Batch) -> Run:
        """Return an optimizer step: gradients of the loss, followed by the fused AdamW, which is the same for all."""
        optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-4, betas=(0.9, 0.98), eps=1e-9, fused=True)

        def step() -> None:
            optimizer.zero_grad()
            self.loss(batch).backward()
            optimizer.step()

        return step


class LanguageContestant(Contestant):
    """A language model, which reads only the targets, and whose loss is not smoothed."""

    tasks = ("train LM", "forward LM", "evaluate LM")
