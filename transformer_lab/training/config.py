"""Training settings: everything that determines a run except the model and the data."""

from dataclasses import dataclass
from typing import Literal, get_args

from transformer_lab.training.schedules import cosine_rate, noam_rate

Schedule = Literal["cosine", "noam"]
OptimizerName = Literal["adamw", "muon"]


@dataclass(frozen=True)
class TrainingConfig:
    """The settings of a training run; the defaults suit small models.

    Args:
        steps: Number of steps.
        batch_tokens: Maximum number of tokens in the longer side of a batch, including padding.
        lr: Peak learning rate of the cosine schedule, or a factor for the Noam schedule.
        warmup: Number of warm-up steps, during which the learning rate rises.
        schedule: How the learning rate falls after the warm-up: along a cosine to 0 at the last step, or with the
            inverse square root of the step, as in the paper.
        optimizer: AdamW, or Muon for the matrices of the layers and AdamW for all other parameters, both at the same
            learning rate. Muon needs fewer steps, but each step takes longer.
        clip: Maximum norm of the gradient.
        label_smoothing: Label smoothing.
        weight_decay: Weight decay of matrices.
        ema: Decay of the exponential moving average (EMA) of the parameters, for instance 0.998; the averaged
            parameters are then validated and saved. 0 means no EMA.
        seed: Random seed for the parameters, the order of the batches, and dropout.
        log_every: Number of steps between two rows of the log.
        validate_every: Number of steps between two validations; 0 means only at the end.
        save_every: Number of steps between two checkpoints.
        autocast: Whether to compute in bfloat16 where that is safe. It is faster on GPUs and on CPUs with bfloat16
            instructions (1.4 times as fast on a CPU with AVX-512 BF16), but slower on CPUs that emulate them.

    Raises:
        ValueError: A number is out of range, a name is unknown, or the warm-up does not end before the last step.
    """

    steps: int
    batch_tokens: int
    lr: float
    warmup: int
    schedule: Schedule = "cosine"
    optimizer: OptimizerName = "adamw"
    clip: float = 1.0
    label_smoothing: float = 0.1
    weight_decay: float = 0.01
    ema: float = 0.0
    seed: int = 0
    log_every: int = 50
    validate_every: int = 0
    save_every: int = 500
    autocast: bool = False

    def __post_init__(self) -> None:
        for name in ("steps", "batch_tokens", "lr", "warmup", "clip", "log_every", "save_every"):
            if not (value := getattr(self, name)) > 0:
                raise ValueError(f"{name} must be positive; got {name}={value}")
        for name in ("weight_decay", "seed", "validate_every"):
            if not (value := getattr(self, name)) >= 0:
                raise ValueError(f"{name} must not be negative; got {name}={value}")
        for name in ("label_smoothing", "ema"):
            if not 0 <= (value := getattr(self, name)) < 1:
                raise ValueError(f"{name} must be at least 0 and less than 1; got {name}={value}")
        for name, choices in (("schedule", get_args(Schedule)), ("optimizer", get_args(OptimizerName))):
            if (value := getattr(self, name)) not in choices:
                raise ValueError(f"{name} must be one of {', '.join(choices)}; got {name}={value!r}")
        if self.seed >= 2**63:
            raise ValueError(f"seed must be less than 2 ** 63; got seed={self.seed}")
        if self.schedule == "cosine" and self.warmup >= self.steps:
            raise ValueError(f"warmup must be less than steps; got warmup={self.warmup}, steps={self.steps}")
        self.lr_at(1, d_model=1)

    def lr_at(self, step: int, d_model: int) -> float:
        """Return the learning rate of a step, counting from 1."""
        if self.schedule == "noam":
            return self.lr * noam_rate(step, d_model, self.warmup)
        return cosine_rate(step, self.lr, self.warmup, self.steps)
