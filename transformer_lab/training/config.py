"""How to train: everything that decides a run beside the model and the data."""

from dataclasses import dataclass
from typing import Literal

from transformer_lab.training.schedules import cosine_rate, noam_rate


@dataclass(frozen=True)
class TrainingConfig:
    """How to train; the defaults suit small models.

    Args:
        steps: How many steps.
        batch_tokens: How many tokens, padding included, the longer side of a batch has at most.
        peak_rate: The highest learning rate of the cosine schedule; a factor on the Noam schedule.
        warmup: How many steps the rate takes to rise.
        schedule: How the rate falls after that: along a cosine to 0 at the last step, or with the root of the step
            as in the paper.
        accumulate: How many batches make a step, where memory cannot hold one as large as is wanted.
        clip: The largest norm that the gradient may have.
        smoothing: Label smoothing.
        weight_decay: Of matrices.
        average: How much of a running mean of the parameters is kept at each step, 0.998 for instance; what is
            validated and kept is then this mean. 0 takes the parameters as they are.
        seed: Of the parameters, of the order of the batches, and of dropout.
        log_every: How many steps between two rows of the log.
        validate_every: How many steps between two validations; 0 means only at the end.
        save_every: How many steps between two checkpoints.
        patience: After how many validations without a better one training stops; 0 means never.
        autocast: Whether to compute in bfloat16 where that is safe. It pays on GPUs and on CPUs that have
            instructions for it (1.4 times as fast on one with AVX-512 BF16); CPUs that emulate it are slower.
        compile: Whether to let ``torch.compile`` translate the model. It pays on long runs with a GPU; it takes
            minutes to start, and small models on a CPU gain nothing.

    Raises:
        ValueError: A number is out of its range, or the warm-up does not end before the last step.
    """

    steps: int
    batch_tokens: int
    peak_rate: float
    warmup: int
    schedule: Literal["cosine", "noam"] = "cosine"
    accumulate: int = 1
    clip: float = 1.0
    smoothing: float = 0.1
    weight_decay: float = 0.01
    average: float = 0.0
    seed: int = 0
    log_every: int = 50
    validate_every: int = 0
    save_every: int = 500
    patience: int = 0
    autocast: bool = False
    compile: bool = False

    def __post_init__(self) -> None:
        for name in ("steps", "batch_tokens", "peak_rate", "accumulate", "clip", "log_every", "save_every"):
            if not (value := getattr(self, name)) > 0:
                raise ValueError(f"{name} must be positive; got {name}={value}")
        for name in ("weight_decay", "seed", "validate_every", "patience"):
            if not (value := getattr(self, name)) >= 0:
                raise ValueError(f"{name} must not be negative; got {name}={value}")
        for name in ("smoothing", "average"):
            if not 0 <= (value := getattr(self, name)) < 1:
                raise ValueError(f"{name} must be from 0 to less than 1; got {name}={value}")
        if self.patience and not self.validate_every:
            raise ValueError(f"patience={self.patience} counts validations, and validate_every=0 makes none")
        self.rate(1, d_model=1)

    def rate(self, step: int, d_model: int) -> float:
        """Give the learning rate of a step, counted from 1."""
        if self.schedule == "noam":
            return self.peak_rate * noam_rate(step, d_model, self.warmup)
        return cosine_rate(step, self.peak_rate, self.warmup, self.steps)
