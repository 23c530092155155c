"""The training loop, which can be stopped and resumed at any step."""

import json
import math
import time
import warnings
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import MISSING, asdict, fields
from pathlib import Path
from typing import Any, Generic

import torch
from torch import Tensor, nn
from tqdm import tqdm

from transformer_lab.data.batches import AnyBatch, EpochBatches
from transformer_lab.models.language_model import LanguageModel
from transformer_lab.models.transformer import Transformer
from transformer_lab.tensor_files import PARAMETERS_FILE, read_tensors, write_tensors
from transformer_lab.training.checkpoint import CHECKPOINT_FILE, load_training, save_training
from transformer_lab.training.config import TrainingConfig
from transformer_lab.training.ema import EMA
from transformer_lab.training.interrupt import Interruption
from transformer_lab.training.log import LOG_FILE, Log
from transformer_lab.training.loss import batch_loss, count_tokens
from transformer_lab.training.muon import Muon, layer_matrices
from transformer_lab.training.optimizer import make_optimizer
from transformer_lab.training.progress import Progress
from transformer_lab.training.validation import ValidationResult

CHANGEABLE_SETTINGS = ("log_every", "save_every")
"""Settings that a resumed run may change because they do not change its results. A resumed run may also add steps."""


class Trainer(Generic[AnyBatch]):
    """A training run on batches, with a folder for the checkpoint, the log and the best parameters.

    A ``Transformer`` is trained on batches of pairs, a ``LanguageModel`` on batches of text windows. The batch defines
    the model's inputs and labels; everything else is the same.

    Args:
        model: The model to train, on the device to compute on.
        batches: The training batches.
        config: The settings of the run.
        folder: Folder for the checkpoint, the log and the parameters. Training resumes from its checkpoint.
        validate: Evaluates the model on held-out data. With None, the last parameters are saved as the best.
        parameters_of: Returns the parameters to save, for a layout with different names.
        held_out: Identifies the held-out data, such as the hash of each file. A run is not resumed with different data,
            because the scores would not be comparable.

    Raises:
        ValueError: The folder's checkpoint has a different model or different settings.
    """

    def __init__(
        self,
        model: Transformer | LanguageModel,
        batches: EpochBatches[AnyBatch],
        config: TrainingConfig,
        folder: Path,
        validate: Callable[[], ValidationResult] | None = None,
        parameters_of: Callable[[Any], Mapping[str, Tensor]] = nn.Module.state_dict,
        held_out: Mapping[str, str] | None = None,
    ) -> None:
        self.model, self.config, self.folder = model, config, folder
        self.batches: EpochBatches[AnyBatch] = batches
        self.validate, self.parameters_of = validate, parameters_of
        self.device = next(model.parameters()).device
        self.optimizers = _make_optimizers(model, config)
        self.ema = EMA(model, config.ema) if config.ema else None
        self.progress = Progress()
        settings = {"training": asdict(config), "model": asdict(model.config), "held_out": dict(held_out or {})}
        # Convert the settings to JSON and back, as in a checkpoint, because JSON turns tuples into lists.
        self.settings: dict[str, dict[str, Any]] = json.loads(json.dumps(settings))
        torch.manual_seed(config.seed)  # for dropout
        folder.mkdir(parents=True, exist_ok=True)
        if (folder / CHECKPOINT_FILE).exists():
            self._resume()
        self.log = Log(folder / LOG_FILE, self.progress.step)

    @property
    def is_finished(self) -> bool:
        """Whether all steps are done."""
        return self.progress.step >= self.config.steps

    def run(self, max_steps: int | None = None) -> bool:
        """Train until the run is finished, until Ctrl-C, or for ``max_steps`` steps; always save a checkpoint.

        Args:
            max_steps: Maximum number of steps in this call. None means all remaining steps.

        Returns:
            Whether the run is finished.

        Raises:
            ValueError: The loss or its gradient is infinite or NaN; the folder keeps the last saved state.
        """
        progress = self.progress
        last = math.inf if max_steps is None else progress.step + max_steps
        batches = self.batches.from_step(progress.step)
        with self._progress_bar() as bar, Interruption() as interruption:
            while not self.is_finished and progress.step < last and not interruption.requested:
                started = time.perf_counter()
                self._step(next(batches))
                progress.step += 1
                progress.seconds += time.perf_counter() - started
                bar.update()
                self._after_step(bar)
            self.save()
        return self.is_finished

    def seconds_per_step(self) -> float:
        """Return the time per step, measured by computing the first batch's gradients twice."""
        batch = next(iter(self.batches.from_step(0))).to(self.device)
        devices = [self.device] if self.device.type == "cuda" else []
        with torch.random.fork_rng(devices):  # so that measuring does not change the dropout of the run
            for _ in range(2):  # the first run also chooses and compiles kernels
                started = time.perf_counter()
                self.model.train()
                self._loss(batch).backward()  # type: ignore[no-untyped-call]
                seconds = time.perf_counter() - started
        self.model.zero_grad()
        return seconds

    def _step(self, batch: AnyBatch) -> None:
        """Take an optimizer step on the mean loss of the batch's real tokens."""
        self.model.train()
        n_tokens = int(count_tokens(batch.labels, self.batches.pad_id))
        lr = self.config.lr_at(self.progress.step + 1, self.model.config.d_model)
        for optimizer in self.optimizers:
            for group in optimizer.param_groups:
                group["lr"] = lr
        self.model.zero_grad()
        loss = self._loss(batch.to(self.device))
        (loss / n_tokens).backward()  # type: ignore[no-untyped-call]
        loss_sum = loss.item()
        norm = float(torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.config.clip))
        # Check before a parameter becomes NaN. The check is free, because ``item`` has already waited for the device.
        if not (math.isfinite(loss_sum) and math.isfinite(norm)):
            found = (
                f"at step {self.progress.step + 1}, the loss is {loss_sum / n_tokens} and its gradient norm is {norm}"
            )
            raise ValueError(f"{found}; try a lower learning rate than lr={self.config.lr:g}")
        with self._autocast():  # for Muon's matrix products
            for optimizer in self.optimizers:
                optimizer.step()
        if self.ema:
            self.ema.update(self.progress.step + 1)
        self.progress.loss_sum += loss_sum
        self.progress.n_tokens += n_tokens

    def _loss(self, batch: AnyBatch) -> Tensor:
        with self._autocast():
            return batch_loss(self.model, batch.inputs, batch.labels, self.batches.pad_id, self.config.label_smoothing)

    def _autocast(self) -> torch.autocast:
        return torch.autocast(self.device.type, torch.bfloat16, enabled=self.config.autocast)

    def _after_step(self, bar: "tqdm[Any]") -> None:
        """Log, validate and save at the configured intervals."""
        config, step = self.config, self.progress.step
        last, row = step == config.steps, {}
        if step % config.log_every == 0 or last:
            row = self.progress.row(self.optimizers[0].param_groups[0]["lr"])
        if self.validate and (last or (config.validate_every and step % config.validate_every == 0)):
            row |= self._validate(self.validate)
        if row:
            self.log.add(step=step, seconds=round(self.progress.seconds, 2), **row)
            bar.set_postfix({name: f"{value:.4g}" for name, value in row.items() if name != "lr"})
        if step % config.save_every == 0:
            self.save()

    def _validate(self, validate: Callable[[], ValidationResult]) -> dict[str, float]:
        """Validate the model, and save its parameters if their score is the best so far."""
        with self._averaged_parameters():
            loss, score = validate()
        if self.progress.record_score(score):
            self._save_parameters()
        return {"validation_loss": loss, "validation_score": score}

    def _save_parameters(self) -> None:
        with self._averaged_parameters():
            write_tensors(self.folder / PARAMETERS_FILE, self.parameters_of(self.model), {"step": self.progress.step})

    def _averaged_parameters(self) -> AbstractContextManager[None]:
        """Use the averaged parameters inside the block if there is an EMA."""
        return self.ema.swapped_in() if self.ema else nullcontext()

    def save(self) -> None:
        """Write the checkpoint, and also the parameters if no validation has chosen the best parameters."""
        if self.progress.best is None:
            self._save_parameters()
        info = {"progress": asdict(self.progress), **self.settings}
        save_training(self.folder / CHECKPOINT_FILE, self.model, self.optimizers, info, self._average_tensors)

    @property
    def _average_tensors(self) -> dict[str, Tensor] | None:
        return self.ema.tensors if self.ema else None

    def _resume(self) -> None:
        path = self.folder / CHECKPOINT_FILE
        info = load_training(path, self.model, self.optimizers, self._average_tensors, self._check_settings)
        try:
            self.progress = Progress.from_json(info.get("progress"))
        except ValueError as error:
            raise ValueError(f"{path} is corrupted: {error}") from error
        if self.progress.best is not None and not self._has_parameters():
            warnings.warn(
                f"{self.folder / PARAMETERS_FILE} with the best parameters is missing or corrupted; it was replaced by "
                f"the parameters of step {self.progress.step}",
                stacklevel=3,
            )
            self.progress.best = None

    def _check_settings(self, info: Mapping[str, Any]) -> None:
        """Raise ValueError if a checkpoint has different settings; some settings may change, and steps may be added."""
        for kind, now in self.settings.items():
            before = info.get(kind, {})
            if not isinstance(before, dict):
                raise ValueError(f"{self.folder / CHECKPOINT_FILE} is corrupted: {kind} is {before!r}")
            if kind == "training":  # a run of an older version used the defaults of new settings
                before = {f.name: f.default for f in fields(TrainingConfig) if f.default is not MISSING} | before
                if unknown := before.keys() - now.keys():
                    raise ValueError(
                        f"{self.folder / CHECKPOINT_FILE} was written by a different version, whose settings "
                        f"{', '.join(sorted(unknown))} no longer exist; train in a different folder"
                    )
            more_steps = type(before.get("steps")) is int and self.config.steps > before["steps"]
            differs = [
                f"{name}={before.get(name)!r}, not {now.get(name)!r}"
                for name in {**before, **now}
                if before.get(name) != now.get(name)
                and not (kind == "training" and (name in CHANGEABLE_SETTINGS or (name == "steps" and more_steps)))
            ]
            if differs:
                raise ValueError(f"{self.folder / CHECKPOINT_FILE} has different settings: {'; '.join(differs)}")

    def _has_parameters(self) -> bool:
        try:
            read_tensors(self.folder / PARAMETERS_FILE)
        except (OSError, ValueError):
            return False
        return True

    def _progress_bar(self) -> "tqdm[Any]":
        """Return the progress bar, which is shown only in a terminal."""
        return tqdm(total=self.config.steps, initial=self.progress.step, unit="step", disable=None)


def _make_optimizers(model: nn.Module, config: TrainingConfig) -> list[torch.optim.Optimizer]:
    """Return the optimizers of a run; the learning rate is set at each step."""
    if config.optimizer == "adamw":
        return [make_optimizer(model, weight_decay=config.weight_decay)]
    matrices = layer_matrices(model)
    muon = Muon(matrices, weight_decay=config.weight_decay, adjust="match_adamw")
    return [muon, make_optimizer(model, weight_decay=config.weight_decay, without=matrices)]
