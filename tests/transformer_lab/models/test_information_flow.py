"""Test the information flow in every model, in training and eval mode, with gradients and with changed inputs.

An output must not depend on a later token or on padding, and it must depend on every other input token.
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
# Each token occurs once in its sentence. The first sentence has no padding; the others have padding after, before or
# between tokens; in the last two, the source or the target consists only of padding.
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


class EncoderOnly(Transformer):
    def forward(self, source):
        return self.encode(source)


class Input(NamedTuple):
    """An input to a model: its tokens, its padding ID, and whether outputs depend only on earlier tokens of it."""

    tokens: Tensor
    pad_id: int
    only_past: bool


class Model(NamedTuple):
    """A function that creates a model, and the inputs for the model."""

    make: Callable[[], nn.Module]
    inputs: list[Input]


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
        tokens = TARGET if config.hide_target_padding else ENDING
        source, target = Input(SOURCE, SOURCE_PAD, only_past=False), Input(tokens, PAD, only_past=True)
        yield f"Transformer, {name}", Model(lambda config=config: Transformer(config), [source, target])
        yield f"encoder, {name}", Model(lambda config=config: EncoderOnly(config), [source])


def language_models() -> Iterator[tuple[str, Model]]:
    positions, norms = ["learned", "sinusoidal", "rotary", "alibi", "none"], ["layer", "rms"]
    for where, norm, feed_forward, n_kv_heads in product(
        positions, norms, ["relu", "gelu", "silu", "swiglu"], [None, 1]
    ):
        config = LanguageModelConfig(
            VOCAB_SIZE, d_model=D_MODEL, n_heads=3, n_kv_heads=n_kv_heads, d_ff=17, n_layers=2, max_length=11,
            dropout=0.0, positions=where, norm=norm, feed_forward=feed_forward, pad_id=PAD,
        )  # fmt: skip
        name = f"LanguageModel, {where} positions, {norm} norm, {feed_forward}, {n_kv_heads or 'all'} kv heads"
        yield name, Model(lambda config=config: LanguageModel(config), [Input(TARGET, PAD, only_past=True)])
        if norm == "rms" and feed_forward == "swiglu":
            unpadded = replace(config, pad_id=None)
            yield (
                f"LanguageModel without padding, {where} positions, {n_kv_heads or 'all'} kv heads",
                Model(lambda config=unpadded: LanguageModel(config), [Input(FULL, NEVER, only_past=True)]),
            )


def recurrent_models() -> Iterator[tuple[str, Model]]:
    for translator in [RecurrentTranslator, AttentiveRecurrentTranslator]:
        yield (
            translator.__name__,
            Model(
                lambda translator=translator: translator(VOCAB_SIZE, VOCAB_SIZE, D_MODEL, SOURCE_PAD),
                [Input(SOURCE, SOURCE_PAD, only_past=False), Input(ENDING, PAD, only_past=True)],
            ),
        )


MODELS = {**dict(transformers()), **dict(language_models()), **dict(recurrent_models())}
"""Every run covers each model, because it tests every third combination of model, mode and method. A thorough run tests
all combinations.
"""


def case_id(case: tuple[Any, ...]) -> str:
    """Return the pytest id of a case."""
    return "-".join(getattr(part, "__name__", str(part)) for part in case)


@contextmanager
def probed(model: nn.Module, probes: list[Tensor]) -> Iterator[None]:
    """Add a probe to the embeddings of each input. A probe contains a vector for each sentence and token ID."""
    remaining = iter(probes)

    def add_probe(module: nn.Module, args: tuple[Tensor], output: Tensor) -> Tensor:
        return output + next(remaining)[torch.arange(len(output))[:, None], args[0]]

    handles = [m.register_forward_hook(add_probe) for m in model.modules() if isinstance(m, nn.Embedding)]
    yield
    for handle in handles:
        handle.remove()


def zero_probes(inputs: list[Input]) -> list[Tensor]:
    return [
        torch.zeros(len(each.tokens), UNUSED + 2, D_MODEL, dtype=torch.float64, requires_grad=True) for each in inputs
    ]


def by_gradient(model: nn.Module, inputs: list[Input]) -> list[Tensor]:
    """Return whether gradient flows from each output to each token, for each input: (batch, n_output, n_input)."""
    probes = zero_probes(inputs)
    with probed(model, probes):
        output = model(*(each.tokens for each in inputs))
    rows = []
    for t in range(output.shape[1]):
        back = torch.autograd.grad(output[:, t], probes, torch.randn_like(output[:, t]), retain_graph=True)
        rows.append([(gradient != 0).any(dim=-1) for gradient in back])
    return [torch.stack([row[i].gather(1, each.tokens) for row in rows], dim=1) for i, each in enumerate(inputs)]


def by_change(model: nn.Module, inputs: list[Input]) -> list[Tensor]:
    """Return whether each output changes when a token is replaced or, for padding, when its embedding changes."""
    before = model(*(each.tokens for each in inputs))
    changes = []
    for i, changed in enumerate(inputs):
        columns = []
        for s in range(changed.tokens.shape[1]):
            tokens, probes = [x.tokens.clone() for x in inputs], [probe.detach() for probe in zero_probes(inputs)]
            real = changed.tokens[:, s] != changed.pad_id
            tokens[i][real, s] = UNUSED
            probes[i][~real, changed.pad_id] = torch.randn(D_MODEL, dtype=torch.float64)
            with probed(model, probes):
                after = model(*tokens)
            columns.append(((after - before).abs() > 1e-12).any(dim=-1))
        changes.append(torch.stack(columns, dim=-1))
    return changes


@pytest.mark.parametrize("case", one_in(3, product(MODELS, [True, False], [by_gradient, by_change])), ids=case_id)
def test_information_flows_exactly_where_the_mask_allows(case):
    name, training, influence = case
    model = MODELS[name]
    network = drawn(model.make()).train(training)
    target = model.inputs[-1]
    n_output = target.tokens.shape[1]
    for each, reaches in zip(model.inputs, influence(network, model.inputs), strict=True):
        real = each.tokens != each.pad_id
        may_reach = real[:, None, :].expand(-1, n_output, -1)
        if each.only_past:
            may_reach = may_reach.tril()
        if each is target:  # padding does affect the outputs at padding positions, but no one uses them
            both_padding = ~real[:, :, None] & ~real[:, None, :]
            reaches = reaches & ~both_padding
        assert torch.equal(reaches, may_reach)


def with_padding(x: Input, at: int) -> Tensor:
    return torch.cat([x.tokens[:, :at], torch.full((len(x.tokens), 2), x.pad_id), x.tokens[:, at:]], dim=1)


@pytest.mark.parametrize("model", [model for name, model in MODELS.items() if name.endswith("RecurrentTranslator")])
@pytest.mark.parametrize("at", [0, 3])
def test_source_padding_does_not_change_a_recurrent_model(model, at):
    network = drawn(model.make())
    source, target = model.inputs
    assert_close(network(with_padding(source, at), target.tokens), network(source.tokens, target.tokens))
