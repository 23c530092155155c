"""The base class of contestants: a model and the workloads that it can run."""

from abc import ABC, abstractmethod
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from benchmarks.clock import Run
from benchmarks.work import LABEL_SMOOTHING, PAD, Batch, Work


class Contestant(ABC):
    """A model from one library. A subclass creates and calls the model as the library's documentation recommends.

    Args:
        work: The workload to run.
    """

    name: ClassVar[str]
    tasks: ClassVar[tuple[str, ...]]
    """The tasks that the model can run."""
    known_difference: ClassVar[str] = ""
    """A difference from our model that cannot be turned off."""
    model: nn.Module

    @abstractmethod
    def logits(self, batch: Batch) -> Tensor:
        """Return the logits of the next token at every position of the target."""

    def loss(self, batch: Batch) -> Tensor:
        """Return the mean loss of the real tokens; the default computes torch's cross-entropy from all logits."""
        smoothing = 0.0 if isinstance(self, LanguageContestant) else LABEL_SMOOTHING
        logits, labels = self.logits(batch), batch.labels
        return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=PAD, label_smoothing=smoothing)

    def greedy(self, source: Tensor) -> Tensor:
        """Generate ``N_NEW_TOKENS`` tokens for each source, always taking the most probable token."""
        raise NotImplementedError

    def sample(self, source: Tensor) -> Tensor:
        """Generate ``N_NEW_TOKENS`` tokens for each source, drawing each from the ``TOP_K`` most probable tokens."""
        raise NotImplementedError

    def prefill(self, source: Tensor) -> Tensor:
        """Generate the most probable next token for each source."""
        raise NotImplementedError

    def beam(self, source: Tensor) -> Tensor:
        """Generate ``N_NEW_TOKENS`` tokens for each source with 4 beams."""
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
        """Return a function that computes the gradients of the loss and takes one step of fused AdamW."""
        optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-4, betas=(0.9, 0.98), eps=1e-9, fused=True)

        def step() -> None:
            optimizer.zero_grad()
            self.loss(batch).backward()
            optimizer.step()

        return step


class LanguageContestant(Contestant):
    """A language model, which reads only the targets and is trained without label smoothing."""

    tasks = ("train LM", "forward LM", "evaluate LM")
