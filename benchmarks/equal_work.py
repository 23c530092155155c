"""Check that all contestants do the same work: report permitted differences, and reject all other differences."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.testing import assert_close
from torch.utils._python_dispatch import TorchDispatchMode

from benchmarks.contestant import Contestant, LanguageContestant
from benchmarks.work import LABEL_SMOOTHING, PAD, Batch, Work

MAX_PARAMETER_DIFFERENCE = 0.05


class CountDropout(TorchDispatchMode):
    """Count the random numbers that are drawn for dropout while this mode is active."""

    def __init__(self) -> None:
        super().__init__()
        self.drawn = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
        """Run the operation and count the random numbers that it draws."""
        result = func(*args, **(kwargs or {}))
        if func.overloadpacket in (torch.ops.aten.bernoulli_, torch.ops.aten.native_dropout):
            self.drawn += (result[0] if isinstance(result, tuple) else result).numel()
        elif func.overloadpacket is torch.ops.aten.random_:
            self.drawn += 4 * result.numel()  # our dropout splits each random number into four
        return result


def check_equal_work(contestants: Sequence[Contestant], work: Work, batch: Batch) -> list[str]:
    """Return one line for each contestant that differs from our model, the first in the list.

    Raises:
        ValueError: A contestant's number of parameters differs by more than 5 %, its embeddings are not tied, its loss
            is not the smoothed cross-entropy of its logits, or it generates a different number of tokens.
    """
    ours, lines = contestants[0], []
    for contestant in contestants:
        n, n_ours = n_parameters(contestant.model), n_parameters(ours.model)
        if abs(n / n_ours - 1) > MAX_PARAMETER_DIFFERENCE:
            raise ValueError(
                f"{contestant.name} has {n:,} parameters, but our model has {n_ours:,}; use the same sizes in both"
            )
        check_tied(contestant, work)
        check_result(contestant, work, batch)
        message = [f"{n - n_ours:+,} parameters"] if n != n_ours else []
        if work.dropout and work.task.startswith("train"):
            drawn = n_dropped(contestant, batch) / n_dropped(ours, batch)
            message += [f"dropout on {drawn:.2f} times as many values"] if drawn != 1 else []
        message += [contestant.known_difference] if contestant.known_difference else []
        lines += [f"{contestant.name}: {'; '.join(message)}"] if message else []
    return lines


def n_parameters(model: nn.Module) -> int:
    """Return the number of trainable parameters, counting shared parameters once."""
    return sum(parameter.numel() for parameter in model.parameters() if parameter.requires_grad)


def check_tied(contestant: Contestant, work: Work) -> None:
    """Raise ValueError unless the source embedding, the target embedding and the last layer share one matrix."""
    shape = (work.size.vocab_size, work.size.d_model)
    matrices = [p for p in contestant.model.parameters() if tuple(p.shape) == shape]
    if len(matrices) != 1:
        raise ValueError(f"{contestant.name} must have one shared matrix of shape {shape}; got {len(matrices)}")


def check_result(contestant: Contestant, work: Work, batch: Batch) -> None:
    """Raise an error unless the loss matches the logits and the number of generated tokens is correct."""
    contestant.model.eval()
    if work.generates:
        with torch.inference_mode():
            tokens: Tensor = getattr(contestant, work.task.split()[0])(batch.source)
        if tokens.shape[1] not in (work.n_new, work.n_new + 1):  # with or without the start token
            raise ValueError(f"{contestant.name} must generate {work.n_new} tokens; got {tokens.shape[1]}")
        return
    with torch.no_grad():
        logits = contestant.logits(batch)
        smoothing = 0.0 if isinstance(contestant, LanguageContestant) else LABEL_SMOOTHING
        expected = F.cross_entropy(logits.mT, batch.labels, ignore_index=PAD, label_smoothing=smoothing)
        assert_close(contestant.loss(batch), expected, rtol=1e-4, atol=1e-4, msg=lambda m: f"{contestant.name}: {m}")


def n_dropped(contestant: Contestant, batch: Batch) -> int:
    """Return the number of values to which a step applies dropout."""
    contestant.model.train()
    with CountDropout() as count:
        contestant.loss(batch)
    return count.drawn
