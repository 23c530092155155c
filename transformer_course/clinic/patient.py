"""A healthy patient: a small Transformer with its data, training and inference.

``DecoderOnly`` and ``EncoderDecoder`` are healthy. Each sick patient is a subclass with one change. A patient's base
class is its healthy twin, which is trained on the same data with the same seed.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from transformer_course.clinic.task import (
    BOS_ID,
    EOS_ID,
    MAX_LENGTH,
    MAX_LETTERS,
    PAD_ID,
    VOCAB_SIZE,
    Pair,
    decode,
    draw_pairs,
    encode,
    pad,
)  # fmt: skip
from transformer_lab.attention.grouped_query import GroupedQueryAttention
from transformer_lab.generation.decode import generate_steps
from transformer_lab.generation.decoding_state import DecodingState, TextState, TranslationState
from transformer_lab.generation.sampling import greedy
from transformer_lab.models.language_model import LanguageModel
from transformer_lab.models.language_model_config import LanguageModelConfig, PositionScheme
from transformer_lab.models.transformer import Transformer
from transformer_lab.models.transformer_config import TransformerConfig
from transformer_lab.training.loss import count_tokens, smoothed_cross_entropy
from transformer_lab.training.optimizer import make_optimizer

D_MODEL, N_HEADS, D_FF, N_LAYERS = 32, 2, 64, 2
"""Sizes of every patient's model."""
ROTARY_BASE = 100.0
"""Small because the texts are short. With the usual base, half of the feature pairs would barely rotate."""
WEIGHT_DECAY = 0.1
N_WARMUP_STEPS = 30


@dataclass(frozen=True)
class Batch:
    """A batch of pairs as tensors.

    Args:
        source: The questions, which an encoder reads.
        inputs: The tokens that a decoder reads.
        targets: The tokens to predict at each position, or padding.
    """

    source: Int[Tensor, "batch n_source"]
    inputs: Int[Tensor, "batch n"]
    targets: Int[Tensor, "batch n"]


class Patient(ABC):
    """A small Transformer that reverses words, with its training and inference.

    Args:
        seed: Random seed of the parameters, the data and dropout.
        trained: Whether to train the model immediately. If False, the model keeps its initial parameters.
    """

    number: ClassVar[int] = 0
    complaint: ClassVar[str] = "None: this is a healthy twin."
    """The problem reported by the owner."""
    n_steps: ClassVar[int] = 240
    lr: ClassVar[float] = 0.01
    dropout: ClassVar[float] = 0.0
    batch_size: ClassVar[int] = 32
    n_micro_batches: ClassVar[int] = 1
    trains_as_twin: ClassVar[bool] = False
    """Whether the patient trains exactly as its healthy twin does, so that it can copy the twin's parameters."""
    part: ClassVar[type[nn.Module] | None] = None
    """A module class that replaces its base class in the model."""

    def __init__(self, seed: int = 0, trained: bool = True) -> None:
        self.seed = seed
        self.losses: list[float] = []
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.model = self.build()
            if self.part is not None:
                replace_modules(self.model, self.part)
            if trained and self.trains_as_twin:
                self.model.load_state_dict(self.twin().model.state_dict())
                self.losses = self.twin().losses
            elif trained:
                self.losses = self.train()

    def __repr__(self) -> str:
        return f"Patient {self.number}"

    def twin(self) -> "Patient":
        """Return the healthy twin, trained on first use. Patients with the same base class and seed share it."""
        return _healthy(
            next(kind for kind in type(self).__mro__ if issubclass(kind, Patient) and not kind.number), self.seed
        )

    @abstractmethod
    def build(self) -> nn.Module:
        """Return the model with its initial parameters."""

    @abstractmethod
    def batch(self, pairs: Sequence[Pair]) -> Batch:
        """Return pairs as tensors."""

    @abstractmethod
    def logits(self, batch: Batch) -> Float[Tensor, "batch n vocab_size"]:
        """Return the logits of the next token at every position, as in training."""

    @abstractmethod
    def decoding(self, questions: Sequence[str]) -> tuple[DecodingState, Int[Tensor, "batch n"]]:
        """Prepare the model for answering; return a decoding state with an empty cache and the first tokens to read."""

    @abstractmethod
    def stages(self) -> dict[str, nn.Module]:
        """Return the modules that the residual stream passes through, starting with the embeddings."""

    def optimizer(self) -> torch.optim.Optimizer:
        """Return the optimizer. Training sets its learning rate at every step."""
        return make_optimizer(self.model, weight_decay=WEIGHT_DECAY)

    def backward(self, batches: Sequence[Batch]) -> float:
        """Accumulate the gradient over micro-batches and return the loss, averaged over all tokens."""
        n_tokens = sum(int(count_tokens(batch.targets, PAD_ID)) for batch in batches)
        total = 0.0
        for batch in batches:
            loss = smoothed_cross_entropy(self.logits(batch), batch.targets, PAD_ID) / n_tokens
            loss.backward()  # type: ignore[no-untyped-call]
            total += loss.item()
        return total

    def train(self) -> list[float]:
        """Train the model and return the loss at each step."""
        self.model.train()
        optimizer = self.optimizer()
        losses = []
        for step in range(self.n_steps):
            warmup, decay = (step + 1) / N_WARMUP_STEPS, 2 * (self.n_steps - step) / self.n_steps
            for group in optimizer.param_groups:
                group["lr"] = self.lr * min(1.0, warmup, decay)
            # Sorting by length puts texts of similar length into the same micro-batch and so reduces padding.
            pairs = sorted(draw_pairs(self.batch_size, f"{self.seed} {step}"), key=lambda pair: len(pair[0]))
            size = -(-self.batch_size // self.n_micro_batches)
            micro_batches = [self.batch(pairs[i : i + size]) for i in range(0, len(pairs), size)]
            optimizer.zero_grad()
            losses.append(self.backward(micro_batches))
            optimizer.step()
        return losses

    @torch.no_grad()
    def answer(self, questions: Sequence[str]) -> list[str]:
        """Return the answers, generated greedily in one batch with a cache."""
        state, tokens = self.decoding(questions)
        steps = list(generate_steps(state, tokens, MAX_LETTERS + 2, greedy, EOS_ID))
        return [decode(row) for row in torch.stack(steps, dim=1).tolist()]


class DecoderOnly(Patient):
    """A GPT with two blocks that reads ``question, bos, answer, eos``. The loss includes only the answer."""

    positions: ClassVar[PositionScheme] = "learned"
    model: LanguageModel

    def build(self) -> nn.Module:
        """Return a pre-norm model with tied embeddings and queries initialized to 0 (arXiv:2203.03466, section 8)."""
        model = LanguageModel(
            LanguageModelConfig(
                VOCAB_SIZE, D_MODEL, N_HEADS, d_ff=D_FF, n_layers=N_LAYERS, max_length=MAX_LENGTH, pad_id=PAD_ID,
                positions=self.positions, rotary_base=ROTARY_BASE, dropout=self.dropout,
            )
        )  # fmt: skip
        for name, parameter in model.named_parameters():
            if parameter.dim() > 1:
                small = name.startswith(("embedding", "positions"))
                nn.init.normal_(parameter, std=0.1 if small else parameter.shape[1] ** -0.5)
        for module in model.modules():
            if isinstance(module, GroupedQueryAttention):
                nn.init.zeros_(module.w_q.weight)
        return model

    def batch(self, pairs: Sequence[Pair]) -> Batch:
        """Return pairs as tensors, padded on the right."""
        questions = [encode(question) for question, _ in pairs]
        answers = [encode(answer) for _, answer in pairs]
        texts = [[*question, BOS_ID, *answer] for question, answer in zip(questions, answers, strict=True)]
        targets = [
            [PAD_ID] * len(question) + [*answer, EOS_ID] for question, answer in zip(questions, answers, strict=True)
        ]
        return Batch(pad(questions), pad(texts), pad(targets))

    def logits(self, batch: Batch) -> Float[Tensor, "batch n vocab_size"]:
        """Return the logits of the next token at every position, as in training."""
        return self.model(batch.inputs)

    def decoding(self, questions: Sequence[str]) -> tuple[DecodingState, Int[Tensor, "batch n"]]:
        """Prepare the model for answering, with questions padded on the left so that all answers start together."""
        self.model.eval()
        prompts = pad([[*encode(question), BOS_ID] for question in questions], left=True)
        return TextState(self.model, MAX_LENGTH), prompts

    def stages(self) -> dict[str, nn.Module]:
        """Return the modules that the residual stream passes through."""
        blocks = enumerate(self.model.blocks, start=1)
        return {"embeddings": self.model.dropout, **{f"layer {i}": block for i, block in blocks}}


class RotaryDecoderOnly(DecoderOnly):
    """A decoder-only patient with rotary positions."""

    positions = "rotary"


class DropoutDecoderOnly(DecoderOnly):
    """A decoder-only patient with dropout."""

    dropout = 0.1


class EncoderDecoder(Patient):
    """A Transformer with two pre-norm layers in each stack. The encoder reads the question."""

    n_steps = 160
    model: Transformer

    def build(self) -> nn.Module:
        """Return the model."""
        return Transformer(
            TransformerConfig(
                VOCAB_SIZE, d_model=D_MODEL, n_heads=N_HEADS, d_ff=D_FF, n_layers=N_LAYERS, max_length=MAX_LENGTH,
                source_pad_id=PAD_ID, target_pad_id=PAD_ID, pre_norm=True, dropout=self.dropout,
            )
        )  # fmt: skip

    def batch(self, pairs: Sequence[Pair]) -> Batch:
        """Return pairs as tensors, padded on the right."""
        answers = [encode(answer) for _, answer in pairs]
        return Batch(
            source=pad([encode(question) for question, _ in pairs]),
            inputs=pad([[BOS_ID, *answer] for answer in answers]),
            targets=pad([[*answer, EOS_ID] for answer in answers]),
        )

    def logits(self, batch: Batch) -> Float[Tensor, "batch n vocab_size"]:
        """Return the logits of the next token at every position, as in training."""
        return self.model(batch.source, batch.inputs)

    def decoding(self, questions: Sequence[str]) -> tuple[DecodingState, Int[Tensor, "batch n"]]:
        """Encode the questions and prepare the decoder for answering."""
        self.model.eval()
        source = pad([encode(question) for question in questions])
        begin = torch.full((len(questions), 1), BOS_ID)
        return TranslationState(self.model, source, MAX_LENGTH), begin

    def stages(self) -> dict[str, nn.Module]:
        """Return the modules that the decoder's residual stream passes through."""
        decoder = self.model.decoder
        layers = enumerate(decoder.layers, start=1)
        return {"embeddings": decoder.dropout, **{f"layer {i}": layer for i, layer in layers}}


@cache
def _healthy(kind: type[Patient], seed: int) -> Patient:
    return kind(seed)


def replace_modules(model: nn.Module, part: type[nn.Module]) -> None:
    """Convert every module of ``part``'s base class to ``part``, keeping the module's parameters."""
    for module in model.modules():
        if type(module) is part.__base__:
            module.__class__ = part


@contextmanager
def evaluation(model: nn.Module) -> Iterator[None]:
    """Put a model into evaluation mode and disable gradients inside the ``with`` block."""
    before = model.training
    model.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        model.train(before)
