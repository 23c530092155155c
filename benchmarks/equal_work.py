"""Do all contestants do the same work? What differs is printed above the times, and what may not differ is an error."""

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
    """Counts the numbers that are drawn at random while it is active."""

    def __init__(self) -> None:
        super().__init__()
        self.drawn = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
        """Run the operation, and count what it draws."""
        result = func(*args, **(kwargs or {}))
        if func.overloadpacket in (torch.ops.aten.bernoulli_, torch.ops.aten.native_dropout):
            self.drawn += (result[0] if isinstance(result, tuple) else result).numel()
        elif func.overloadpacket is torch.ops.aten.random_:
            self.drawn += 4 * result.numel()  # ours: each decides for four
        return result


def check_equal_work(contestants: Sequence[Contestant], work: Work, batch: Batch) -> list[str]:
    """Return what the contestants do otherwise than the first of them, ours, a line each.

    Raises:
        ValueError: One has 5 % more or fewer parameters than ours, does not tie its embeddings, has another loss than
            the smoothed cross-entropy of its own logits, or generates another number of tokens.
    """
    ours, lines = contestants[0], []
    for contestant in contestants:
        n, n_ours = n_parameters(contestant.model), n_parameters(ours.model)
        if abs(n / n_ours - 1) > MAX_PARAMETER_DIFFERENCE:
            raise ValueError(f"{contestant.name} has {n:,} parameters, ours {n_ours:,}")
        check_tied(contestant, work)
        check_result(contestant, work, batch)
        message = [f"{n - n_ours:+,} parameters"] if n != n_ours else []
        if work.dropout and work.task.startswith("train"):
            drawn = n_dropped(contestant, batch) / n_dropped(ours, batch)
            message += [f"dropout on {drawn:.2f} times as many numbers"] if drawn != 1 else []
        message += [contestant.differs] if contestant.differs else []
        lines += [f"{contestant.name}: {'; '.join(message)}"] if message else []
    return lines


def n_parameters(model: nn.Module) -> int:
    """Return the number of parameters that are trained, shared ones once."""
    return sum(parameter.numel() for parameter in model.parameters() if parameter.requires_grad)


def check_tied(contestant: Contestant, work: Work) -> None:
    """Raise ValueError unless one matrix is source embedding, target embedding and last layer."""
    shape = (work.size.vocab_size, work.size.d_model)
    matrices = [p for p in contestant.model.parameters() if tuple(p.shape) == shape]
    if len(matrices) != 1:
        raise ValueError(f"{contestant.name} has {len(matrices)} matrices of shape {shape}, which should be shared")


def check_result(contestant: Contestant, work: Work, batch: Batch) -> None:
    """Raise an error unless the loss is that of the logits, and as many tokens are generated as should be."""
    contestant.model.eval()
    if work.generates:
        with torch.inference_mode():
            tokens: Tensor = getattr(contestant, work.task.split()[0])(batch.source)
        if tokens.shape[1] not in (work.n_new, work.n_new + 1):  # with or without the token that begins
            raise ValueError(f"{contestant.name} generates {tokens.shape[1]} tokens, not {work.n_new}")
        return
    with torch.no_grad():
        logits = contestant.logits(batch)
        smoothing = 0.0 if isinstance(contestant, LanguageContestant) else LABEL_SMOOTHING
        wanted = F.cross_entropy(logits.mT, batch.labels, ignore_index=PAD, label_smoothing=smoothing)
        assert_close(contestant.loss(batch), wanted, rtol=1e-4, atol=1e-4, msg=lambda m: f"{contestant.name}: {m}")


def n_dropped(contestant: Contestant, batch: Batch) -> int:
    """Return how many numbers dropout is applied to in a step."""
    contestant.model.train()
    with CountDropout() as count:
        contestant.loss(batch)
    return count.drawn
