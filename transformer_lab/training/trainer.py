"""The training loop: batches in, a trained model and its log out; it may be stopped and resumed at any moment."""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from tqdm import tqdm

from transformer_lab.data.batches import Batch, Batches
from transformer_lab.models.transformer import Transformer
from transformer_lab.tensor_files import PARAMETERS, write_tensors
from transformer_lab.training.checkpoint import CHECKPOINT, load_training, save_training
from transformer_lab.training.config import TrainingConfig
from transformer_lab.training.distributed import World
from transformer_lab.training.interrupt import Interruption
from transformer_lab.training.log import LOG, Log
from transformer_lab.training.loss import count_tokens, smoothed_cross_entropy
from transformer_lab.training.optimizer import make_optimizer
from transformer_lab.training.progress import Progress
from transformer_lab.training.validation import ValidationResult
from transformer_lab.training.weight_average import WeightAverage


class Trainer:
    """Trains a Transformer on batches, in a folder that holds its checkpoint, its log and its best parameters.

    Args:
        model: What is trained, on the device where it is.
        batches: What it is trained on.
        config: How.
        folder: Where everything is kept. If there is a checkpoint in it, training goes on from there.
        validate: Judges the model by pairs that it is not trained on. None: the last parameters are the best.
        world: The processes that train together, and which of them this is. None: this one alone.

    Raises:
        ValueError: The folder's checkpoint is of another model or of other settings, or patience is asked for with
            nothing to judge by.
    """

    def __init__(
        self,
        model: Transformer,
        batches: Batches,
        config: TrainingConfig,
        folder: Path,
        validate: Callable[[], ValidationResult] | None = None,
        world: World | None = None,
    ) -> None:
        self.model, self.batches, self.config, self.folder = model, batches, config, folder
        self.validate, self.world = validate, world or World()
        self.device = next(model.parameters()).device
        self.optimizer = make_optimizer(model, weight_decay=config.weight_decay)
        self.forward: Callable[[Tensor, Tensor], Tensor] = (
            torch.compile(model, dynamic=True) if config.compile else model
        )
        self.average = WeightAverage(model, config.average) if config.average else None
        self.progress = Progress()
        self.settings = {"training": asdict(config), "model": asdict(model.config)}
        if config.patience and not validate:
            raise ValueError(f"patience={config.patience} counts validations, and there are no pairs to validate on")
        torch.manual_seed(config.seed + self.world.rank)  # of dropout: another one in every process
        folder.mkdir(parents=True, exist_ok=True)
        if (folder / CHECKPOINT).exists():
            self._resume()
        self.log = Log(folder / LOG, self.progress.step) if self.world.is_main else None

    def run(self) -> bool:
        """Train until the last step, until nothing gets better, or until Ctrl-C; say whether it came to its end."""
        progress, k = self.progress, self.config.accumulate
        batches = self.batches.from_step(progress.step * k)
        with self._bar() as bar, Interruption() as interruption:
            while not self._is_over() and not self._any(interruption.asked):
                started = time.perf_counter()
                self._step(list(islice(batches, k)))
                progress.step += 1
                progress.seconds += time.perf_counter() - started
                bar.update()
                self._after_step(bar)
            self.save()
        return self._is_over()

    def _is_over(self) -> bool:
        patience = self.config.patience
        return self.progress.step >= self.config.steps or bool(
            patience and self.progress.evaluations_since_best >= patience
        )

    def _step(self, batches: list[Batch]) -> None:
        """Make one step. Losses are summed, and divided by the real tokens of all batches and processes together."""
        self.model.train()
        pad_id = self.model.config.target_pad_id
        n_tokens = sum(int(count_tokens(batch.target[:, 1:], pad_id)) for batch in batches)
        rate = self.config.rate(self.progress.step + 1, self.model.config.d_model)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.zero_grad()
        for batch in batches:
            share = batch.part(self.world.rank, self.world.size)
            if len(share.source):
                loss = self._loss(share.to(self.device))
                (loss / n_tokens).backward()  # type: ignore[no-untyped-call]
                self.progress.loss_sum += loss.item()
        self.world.sum_gradients(self.model)
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.config.clip)
        self.optimizer.step()
        if self.average:
            self.average.update(self.progress.step + 1)
        self.progress.n_tokens += n_tokens

    def _loss(self, batch: Batch) -> Tensor:
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.config.autocast):
            logits = self.forward(batch.source, batch.target[:, :-1])
        return smoothed_cross_entropy(
            logits, batch.target[:, 1:], self.model.config.target_pad_id, self.config.smoothing
        )

    def _after_step(self, bar: "tqdm[Any]") -> None:
        """Log, validate and save when it is time to."""
        config, step = self.config, self.progress.step
        last, row = step == config.steps, {}
        if step % config.log_every == 0 or last:
            [loss_sum] = self.world.sum(self.progress.loss_sum)
            row = self.progress.row(loss_sum, self.optimizer.param_groups[0]["lr"])
        if self.validate and (last or (config.validate_every and step % config.validate_every == 0)):
            row |= self._judge(self.validate)
        if row and self.log:
            self.log.add(step=step, seconds=round(self.progress.seconds, 2), **row)
            bar.set_postfix({name: f"{value:.4g}" for name, value in row.items() if name != "rate"})
        if step % config.save_every == 0:
            self.save()

    def _judge(self, validate: Callable[[], ValidationResult]) -> dict[str, float]:
        """Judge the model, and keep its parameters if they were never better."""
        with self._averaged():
            loss, score = self.world.sum(*(validate() if self.world.is_main else (0.0, 0.0)))
        if self.progress.record_score(score):
            self._keep()
        return {"validation_loss": loss, "validation_score": score}

    def _keep(self) -> None:
        if self.world.is_main:
            with self._averaged():
                write_tensors(self.folder / PARAMETERS, self.model.state_dict(), {"step": self.progress.step})

    def _averaged(self) -> AbstractContextManager[None]:
        """Let the model have the parameters that are to be used, where they are not its own."""
        return self.average.swapped_in() if self.average else nullcontext()

    def save(self) -> None:
        """Write the checkpoint, and the parameters too if none were judged that may be better."""
        [total] = self.world.sum(self.progress.loss_sum)
        self.progress.loss_sum = total if self.world.is_main else 0.0
        if self.progress.best is None:
            self._keep()
        if self.world.is_main:
            info = {"progress": asdict(self.progress), **self.settings}
            save_training(self.folder / CHECKPOINT, self.model, self.optimizer, info, self._mean)

    @property
    def _mean(self) -> dict[str, Tensor] | None:
        return self.average.tensors if self.average else None

    def _resume(self) -> None:
        path = self.folder / CHECKPOINT
        info = load_training(path, self.model, self.optimizer, self._mean)
        for kind, now in self.settings.items():
            differs = [f"{k}={info[kind].get(k)!r}, not {v!r}" for k, v in now.items() if info[kind].get(k) != v]
            if differs:
                raise ValueError(f"{path} was made with other settings: {'; '.join(differs)}")
        self.progress = Progress(**info["progress"])
        if not self.world.is_main:
            self.progress.loss_sum = 0.0  # the first has that of all
            torch.manual_seed(hash((self.config.seed, self.world.rank, self.progress.step)))

    def _any(self, asked: bool) -> bool:
        """Say whether any process was asked to stop, so that all stop together."""
        return self.world.sum(float(asked))[0] > 0

    def _bar(self) -> "tqdm[Any]":
        """Make a progress bar, for the first process and only where someone can see it."""
        hidden = None if self.world.is_main else True
        return tqdm(total=self.config.steps, initial=self.progress.step, unit="step", disable=hidden)
