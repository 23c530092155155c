"""What can reach which output: of every model, in training and in use, by gradients and by changes.

No output may depend on a token after it, or on padding; and it must depend on everything else that was given.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple

import pytest
import torch
from torch import Tensor, nn
from torch.testing import assert_close

from tests.helpers.thoroughness import one_in
from tests.helpers.torch_parity import drawn
from transformer_lab.models.language_model import LanguageModel, LanguageModelConfig
from transformer_lab.models.recurrent import AttentiveRecurrentTranslator, RecurrentTranslator
from transformer_lab.models.transformer import Transformer
from transformer_lab.models.transformer_config import TransformerConfig

PAD, SOURCE_PAD, NEVER, UNUSED, VOCAB_SIZE, D_MODEL = 4, 9, 11, 12, 13, 12
# Each token occurs once in its sentence. One sentence is full; the others have padding after, before, or between; in
# the last two, source or target is nothing but padding.
SOURCE = torch.tensor(
    [[1, 2, 3, 4, 5, 6, 7], [4, 8, 3, 2, 9, 9, 9], [9, 9, 9, 1, 3, 2, 0], [9, 8, 9, 9, 3, 1, 9], 7 * [9], range(7)]
)
TARGET = torch.tensor(
    [[1, 2, 3, 5, 6], [7, 0, 9, PAD, PAD], [PAD, PAD, 1, 3, 2], [8, PAD, 3, PAD, 1], [1, 8, 9, 7, 0], 5 * [PAD]]
)
ENDING = torch.tensor(
    [[1, 2, 3, 5, 6], [7, 0, 9, PAD, PAD], [1, 2, 0, 9, PAD], [8, PAD, PAD, PAD, PAD], [1, 8, 9, 7, 0], 5 * [PAD]]
)
FULL = torch.tensor([[1, 2, 3, 5, 6], [PAD, 8, 9, 7, 0]])


class EncoderAlone(Transformer):
    def forward(self, source):
        return self.encode(source)


class Given(NamedTuple):
    """An input of a model."""

    tokens: Tensor
    pad_id: int
    only_past: bool


class Model(NamedTuple):
    """A model and what it is given."""

    make: Callable[[], nn.Module]
    given: list[Given]


def transformers() -> Iterator[tuple[str, Model]]:
    variants = {
        "paper's": {},
        "two vocabularies": {"source_vocab_size": UNUSED + 2},
        "pre-norm": {"pre_norm": True},
        "learned positions": {"learned_positions": True},
        "pre-norm, learned positions": {"pre_norm": True, "learned_positions": True},
        "Marian's": {"feed_forward": "silu", "output_bias": True, "hide_target_padding": False},
    }
    for name, others in variants.items():
        config = TransformerConfig(
            VOCAB_SIZE, d_model=D_MODEL, n_heads=3, d_ff=17, n_layers=2, max_length=11, dropout=0.0,
            source_pad_id=SOURCE_PAD, target_pad_id=PAD, **others,
        )  # fmt: skip
        written = TARGET if config.hide_target_padding else ENDING
        source, target = Given(SOURCE, SOURCE_PAD, only_past=False), Given(written, PAD, only_past=True)
        yield f"Transformer, {name}", Model(lambda config=config: Transformer(config), [source, target])
        yield f"encoder, {name}", Model(lambda config=config: EncoderAlone(config), [source])


def language_models() -> Iterator[tuple[str, Model]]:
    positions, norms = ["learned", "sinusoidal", "rotary", "alibi", "none"], ["layer", "rms"]
    for where, norm, feed_forward, n_kv_heads in product(
        positions, norms, ["relu", "gelu", "silu", "swiglu"], [None, 1]
    ):
        config = LanguageModelConfig(
            VOCAB_SIZE, d_model=D_MODEL, n_heads=3, n_kv_heads=n_kv_heads, d_ff=17, n_layers=2, max_length=11,
            dropout=0.0, positions=where, norm=norm, feed_forward=feed_forward, pad_id=PAD,
        )  # fmt: skip
        name = f"LanguageModel, {where} positions, {norm} norm, {feed_forward}, {n_kv_heads or 'as many'} kv heads"
        yield name, Model(lambda config=config: LanguageModel(config), [Given(TARGET, PAD, only_past=True)])
        if norm == "rms" and feed_forward == "swiglu":
            unpadded = replace(config, pad_id=None)
            yield (
                f"LanguageModel without padding, {where} positions, {n_kv_heads or 'as many'} kv heads",
                Model(lambda config=unpadded: LanguageModel(config), [Given(FULL, NEVER, only_past=True)]),
            )


def recurrent_models() -> Iterator[tuple[str, Model]]:
    for translator in [RecurrentTranslator, AttentiveRecurrentTranslator]:
        yield (
            translator.__name__,
            Model(
                lambda translator=translator: translator(VOCAB_SIZE, VOCAB_SIZE, D_MODEL, SOURCE_PAD),
                [Given(SOURCE, SOURCE_PAD, only_past=False), Given(ENDING, PAD, only_past=True)],
            ),
        )


MODELS = {**dict(transformers()), **dict(language_models()), **dict(recurrent_models())}
"""Each test takes one in three of these in all their ways, so every model in some: a thorough run takes all."""


def named(case: tuple[Any, ...]) -> str:
    """Return the name of a case in a report."""
    return "-".join(getattr(part, "__name__", str(part)) for part in case)


@contextmanager
def probed(model: nn.Module, probes: list[Tensor]) -> Iterator[None]:
    """Add to each embedded token what a probe holds for it: one probe per input, a row per sentence and token."""
    waiting = iter(probes)

    def add_probe(module: nn.Module, args: tuple[Tensor], output: Tensor) -> Tensor:
        return output + next(waiting)[torch.arange(len(output))[:, None], args[0]]

    handles = [m.register_forward_hook(add_probe) for m in model.modules() if isinstance(m, nn.Embedding)]
    yield
    for handle in handles:
        handle.remove()


def silent(given: list[Given]) -> list[Tensor]:
    return [torch.zeros(len(one.tokens), UNUSED + 2, D_MODEL, dtype=torch.float64, requires_grad=True) for one in given]


def by_gradient(model: nn.Module, given: list[Given]) -> list[Tensor]:
    """Whether any gradient flows from each output back to each token, for each input: (batch, n_output, n_input)."""
    probes = silent(given)
    with probed(model, probes):
        output = model(*(one.tokens for one in given))
    rows = []
    for t in range(output.shape[1]):
        back = torch.autograd.grad(output[:, t], probes, torch.randn_like(output[:, t]), retain_graph=True)
        rows.append([(gradient != 0).any(dim=-1) for gradient in back])
    return [torch.stack([row[i].gather(1, one.tokens) for row in rows], dim=1) for i, one in enumerate(given)]


def by_change(model: nn.Module, given: list[Given]) -> list[Tensor]:
    """Whether each output changes if a token is another, or if padding is embedded as something else."""
    before = model(*(one.tokens for one in given))
    changes = []
    for i, one in enumerate(given):
        columns = []
        for s in range(one.tokens.shape[1]):
            tokens, probes = [other.tokens.clone() for other in given], [probe.detach() for probe in silent(given)]
            real = one.tokens[:, s] != one.pad_id
            tokens[i][real, s] = UNUSED
            probes[i][~real, one.pad_id] = torch.randn(D_MODEL, dtype=torch.float64)
            with probed(model, probes):
                after = model(*tokens)
            columns.append(((after - before).abs() > 1e-12).any(dim=-1))
        changes.append(torch.stack(columns, dim=-1))
    return changes


@pytest.mark.parametrize("case", one_in(3, product(MODELS, [True, False], [by_gradient, by_change])), ids=named)
def test_information_flows_exactly_where_the_mask_allows(case):
    name, training, influence = case
    model = MODELS[name]
    network = drawn(model.make()).train(training)
    written = model.given[-1]
    n_output = written.tokens.shape[1]
    for one, arrives in zip(model.given, influence(network, model.given), strict=True):
        real = one.tokens != one.pad_id
        may_arrive = real[:, None, :].expand(-1, n_output, -1)
        if one.only_past:
            may_arrive = may_arrive.tril()
        if one is written:  # padding does reach the output at its own position, of which nobody makes use
            both_padding = ~real[:, :, None] & ~real[:, None, :]
            arrives = arrives & ~both_padding
        assert torch.equal(arrives, may_arrive)


def with_padding(one: Given, at: int) -> Tensor:
    return torch.cat([one.tokens[:, :at], torch.full((len(one.tokens), 2), one.pad_id), one.tokens[:, at:]], dim=1)


@pytest.mark.parametrize("model", [model for name, model in MODELS.items() if name.endswith("RecurrentTranslator")])
@pytest.mark.parametrize("at", [0, 3])
def test_source_padding_does_not_change_a_recurrent_model(model, at):
    network = drawn(model.make())
    source, target = model.given
    assert_close(network(with_padding(source, at), target.tokens), network(source.tokens, target.tokens))
