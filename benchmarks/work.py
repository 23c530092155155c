"""The workloads: each is a task, a model size and a batch shape."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

import torch
from torch import Tensor

PAD, BEGIN, END, FIRST_WORD_ID = 0, 1, 2, 3
"""The ids of the padding, start and end tokens, and of the first word."""
LABEL_SMOOTHING = 0.1
N_NEW_TOKENS = 64
TOP_K = 50


@dataclass(frozen=True)
class Size:
    """The size of a model."""

    name: str
    d_model: int
    n_heads: int
    n_layers: int
    d_ff: int
    vocab_size: int
    max_length: int = 136


TINY = Size("tiny", 128, 4, 2, 512, 1000)
SMALL = Size("small", 256, 8, 3, 1024, 8000)
BASE = Size("base", 512, 8, 6, 2048, 32000)


@dataclass(frozen=True)
class Work:
    """One row of the table.

    Args:
        task: ``train`` is an optimizer step, ``forward`` computes the logits of all positions without gradients, and
            ``evaluate`` computes the validation loss; ``greedy``, ``sample`` and ``beam`` generate texts, and
            ``prefill`` generates one token. Tasks for language models end with ``LM``, ``Llama``, or ``grouped`` for a
            Llama in which four query heads share a key/value head.
        size: The size of the models.
        batch: Number of sentences.
        length: Number of tokens in the longest source and the longest target.
        dropout: Dropout probability.
        padding: If True, lengths are uniform between a third of ``length`` and ``length``; if False, all lengths are
            equal.
    """

    task: str
    size: Size
    batch: int
    length: int
    dropout: float = 0.0
    padding: bool = True

    @property
    def name(self) -> str:
        """The name of the row."""
        if self.generates:
            prompt = f" of {self.length}" if self.task.startswith("prefill") else ""
            return f"{self.task} {self.size.name} batch {self.batch}{prompt}"
        dropout = f" dropout {self.dropout:g}" if "train" in self.task else ""
        full = "" if self.padding else " no padding"
        return f"{self.task} {self.size.name} {self.batch}×{self.length}{dropout}{full}"

    @property
    def generates(self) -> bool:
        """Whether the task generates tokens."""
        return self.task.startswith(("greedy", "sample", "beam", "prefill"))

    @property
    def translates(self) -> bool:
        """Whether the model has an encoder."""
        return not self.task.endswith(("LM", "Llama", "grouped"))

    @property
    def n_new(self) -> int:
        """Number of generated tokens."""
        return 1 if self.task.startswith("prefill") else N_NEW_TOKENS

    def draw(self) -> "Batch":
        """Draw the batch; every call returns the same batch."""
        rng = torch.Generator().manual_seed(0)

        def side(n: int) -> Tensor:
            tokens = torch.randint(FIRST_WORD_ID, self.size.vocab_size, (self.batch, n), generator=rng)
            if self.padding:
                lengths = (
                    torch.randint(self.length // 3, self.length + 1, (self.batch, 1), generator=rng) + n - self.length
                )
                lengths[0] = n
                tokens[torch.arange(n) >= lengths] = PAD
            return tokens

        target = side(self.length + 1)
        target[:, 0] = BEGIN
        return Batch(side(self.length), target[:, :-1], target[:, 1:])


def n_kv_heads(work: Work) -> int:
    """Return the number of key/value heads for the Llama of this workload."""
    return work.size.n_heads // 4 if work.task.endswith("grouped") else work.size.n_heads


@dataclass(frozen=True)
class Batch:
    """Sources, targets, and the token after each target token."""

    source: Tensor
    target: Tensor
    labels: Tensor

    @property
    def n_labels(self) -> int:
        """Number of real tokens to predict."""
        return int((self.labels != PAD).sum())


def all_work() -> Iterator[Work]:
    """Yield every available workload."""
    shapes = (32, 24), (16, 128)
    for size, (batch, length), dropout, padding in product((TINY, SMALL, BASE), shapes, (0.1, 0.0), (True, False)):
        yield Work("train", size, batch, length, dropout, padding)
    for size, (batch, length), dropout, padding in product((TINY, SMALL), shapes, (0.1, 0.0), (True, False)):
        yield Work("train LM", size, batch, length, dropout, padding)
    without_gradients = "forward", "forward LM", "evaluate", "evaluate LM"
    for task, size, (batch, length) in product(without_gradients, (TINY, SMALL), shapes):
        yield Work(task, size, batch, length)
    for task, size, (batch, length) in product(("forward", "forward LM"), (TINY, SMALL), shapes):
        yield Work(task, size, batch, length, padding=False)
    for task, size, batch in product(("greedy", "beam"), (TINY, SMALL), (1, 32)):
        yield Work(task, size, batch, 24)
    for task, size, batch in product(
        ("greedy LM", "sample LM", "greedy Llama", "greedy grouped"), (TINY, SMALL), (1, 32)
    ):
        yield Work(task, size, batch, 24, padding=False)
    long = replace(SMALL, max_length=2048 + 8)
    for task, length in product(("prefill LM", "prefill grouped"), (512, 2000)):
        yield Work(task, long, 1, length, padding=False)
    for length in (512, 1024, 2048):
        yield Work("train Llama", long, 2048 // length, length, padding=False)


README_ROWS = """\
train tiny 32×24 dropout 0.1
train small 32×24 dropout 0.1
train small 32×24 dropout 0.1 no padding
train small 16×128 dropout 0.1
train small 16×128 dropout 0.1 no padding
train small 16×128 dropout 0
train base 32×24 dropout 0.1
train LM tiny 32×24 dropout 0.1
train LM small 16×128 dropout 0.1
train Llama small 4×512 dropout 0 no padding
train Llama small 2×1024 dropout 0 no padding
train Llama small 1×2048 dropout 0 no padding
forward tiny 32×24
forward tiny 32×24 no padding
forward small 16×128
forward small 16×128 no padding
evaluate tiny 32×24
evaluate small 16×128
greedy tiny batch 1
greedy tiny batch 32
greedy small batch 1
greedy small batch 32
beam tiny batch 1
beam tiny batch 32
beam small batch 1
greedy LM tiny batch 1
greedy LM tiny batch 32
sample LM tiny batch 1
sample LM tiny batch 32
greedy grouped tiny batch 1
greedy grouped tiny batch 32
prefill grouped small batch 1 of 512
prefill grouped small batch 1 of 2000
""".splitlines()
