"""Test the losses and gradients of models on packed rows against padded models with the same dropout."""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from functools import partial

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.modules.module import register_module_forward_hook
from torch.testing import assert_close

from tests.helpers.small_models import CONFIGS, CONTINUES, TRANSLATES, build
from transformer_lab.attention.multi_head import MultiHeadAttention
from transformer_lab.fast import packed_attention, packed_models
from transformer_lab.fast.packed_attention import attend_rows
from transformer_lab.fast.packed_models import packed_loss, supports_packing
from transformer_lab.inspection.hooks import record_attention
from transformer_lab.layers.lora import LoRALinear
from transformer_lab.models.transformer import Transformer

PAD = 0
ALL = {
    **CONFIGS,
    "output bias": replace(TRANSLATES, output_bias=True),
    "visible target padding": replace(TRANSLATES, hide_target_padding=False, feed_forward="gelu"),
    "GPT, norms before and after": replace(CONTINUES, norm_placement="both", bias=False),
}


class EveryThird(nn.Module):
    """Dropout that drops every third feature, so that dropout at the wrong position in the model changes the result."""

    def forward(self, x: Tensor) -> Tensor:
        keep = torch.arange(x.shape[-1]) % 3 > 0
        return 1.5 * x * keep


@pytest.fixture(params=ALL)
def model(request) -> nn.Module:
    model = build(ALL[request.param])
    for module in list(model.modules()):
        if isinstance(getattr(module, "dropout", None), nn.Module):
            module.dropout = EveryThird()
    return model


def batch(model: nn.Module, lengths=(5, 9, 1), sources=(7, 3, 8)) -> tuple[tuple[Tensor, ...], Tensor]:
    def sentences(lengths):
        tokens = torch.randint(1, 11, (len(lengths), max(lengths)), generator=torch.Generator().manual_seed(4))
        return tokens.masked_fill(torch.arange(max(lengths)) >= torch.tensor(lengths)[:, None], PAD)

    target = sentences([n + 1 for n in lengths])
    inputs = (target[:, :-1],)
    return (sentences(sources), *inputs) if isinstance(model, Transformer) else inputs, target[:, 1:]


def plain_loss(model, inputs, labels, smoothing):
    logits = model(*inputs).flatten(0, 1)
    return F.cross_entropy(logits, labels.flatten(), ignore_index=PAD, label_smoothing=smoothing, reduction="sum")


def assert_same(model, inputs, labels):
    assert supports_packing(model, inputs, labels, PAD)
    losses = packed_loss(model, inputs, labels, PAD, 0.1), plain_loss(model, inputs, labels, 0.1)
    assert_close(*losses)
    ours, theirs = (torch.autograd.grad(loss, list(model.parameters()), allow_unused=True) for loss in losses)
    assert_close(ours, theirs)


def test_losses_and_gradients_match_the_model(model):
    assert_same(model, *batch(model))
    assert_same(model, *batch(model, (6, 6), (5, 5)))  # a batch without padding


@pytest.mark.parametrize(("max_padded", "max_formula"), [(6, 9), (0, 128), (48, 5)])
@pytest.mark.parametrize("multiple", [1, 4])
def test_batched_single_and_kernel_paths_agree(model, monkeypatch, max_padded, max_formula, multiple):
    monkeypatch.setattr(packed_attention, "MAX_PADDED_LENGTH", max_padded)
    monkeypatch.setattr(packed_models, "MAX_FORMULA_LENGTH", max_formula)
    monkeypatch.setattr(packed_models, "row_multiple", lambda tokens: multiple)
    assert_same(model, *batch(model))


def test_tied_vocabulary_gradient_is_dense_and_separate():
    for config in (
        TRANSLATES,
        replace(TRANSLATES, source_vocab_size=13),
        CONTINUES,
        replace(CONTINUES, tie_embeddings=False),
    ):
        model = build(config)
        packed_loss(model, *batch(model), PAD).backward()
        assert all(p.grad is None or p.grad.layout == torch.strided for p in model.parameters())


def test_dropout_and_long_sentences_use_the_kernel(monkeypatch):
    calls = []
    monkeypatch.setattr(packed_models, "attend_rows", lambda *args: calls.append(1) or attend_rows(*args))
    model = build(TRANSLATES)
    inputs, labels = batch(model)
    packed_loss(model, inputs, labels, PAD)
    assert calls
    calls.clear()
    monkeypatch.setattr(packed_models, "MAX_FORMULA_LENGTH", 8)
    packed_loss(model, inputs, labels, PAD)
    assert len(calls) == len(model.encoder.layers)  # sources have at most 8 tokens, but targets have 9
    calls.clear()
    monkeypatch.setattr(packed_models, "MAX_FORMULA_LENGTH", 128)
    for module in model.modules():
        if isinstance(module, MultiHeadAttention):
            module.dropout = 0.5
    packed_loss(model.train(), inputs, labels, PAD)
    assert not calls


def test_autocast_rounds_the_number_of_rows(monkeypatch):
    model = build(TRANSLATES).float()
    row_counts = set()

    def record_rows(tokens, *rest, original=F.embedding, **options):
        row_counts.add(tokens.numel())
        return original(tokens, *rest, **options)

    monkeypatch.setattr(F, "embedding", record_rows)
    for half, expected in ((False, {60, 61, 62, 63}), (True, {64})):
        row_counts.clear()
        with torch.autocast("cpu", torch.bfloat16, enabled=half):
            packed_loss(model, *batch(model, (16, 16, 16, 13, 1), (16, 16, 16, 8, 4)), PAD)
            packed_loss(model, *batch(model, (16, 16, 16, 10, 3), (16, 16, 16, 8, 7)), PAD)
        assert row_counts == expected


def test_packed_model_matches_in_single_precision(model):
    assert_same(model.float(), *batch(model))


class LearnersAttention(MultiHeadAttention):
    """A learner's attention, which does not support packed rows."""

    def forward(self, query, key, value, mask=None, cache=None):
        return 2 * super().forward(query, key, value, mask, cache)


def test_custom_attention_classes_receive_padded_batch():
    model = build(TRANSLATES)
    for layer in (*model.encoder.layers, *model.decoder.layers):
        for name, module in list(layer.named_children()):
            if isinstance(module, MultiHeadAttention):
                theirs = LearnersAttention(8, 2).double()
                theirs.load_state_dict(module.state_dict())
                setattr(layer, name, theirs)
    assert_same(model, *batch(model))


class LearnersEmbedding(nn.Embedding):
    """A learner's embedding, which requires a batch dimension."""

    def forward(self, tokens):
        _batch, _n = tokens.shape
        return 2 * super().forward(tokens)


@pytest.mark.parametrize("sides", [["encoder"], ["decoder"], ["encoder", "decoder"]])
def test_calls_custom_embedding_classes_even_if_tied(sides):
    model = build(TRANSLATES)
    for stack in (getattr(model, side) for side in sides):
        theirs = LearnersEmbedding(11, 8)
        theirs.weight = stack.embedding.weight
        stack.embedding = theirs
    assert_same(model, *batch(model))


@pytest.mark.parametrize("config", [TRANSLATES, replace(TRANSLATES, source_vocab_size=13), CONTINUES])
def test_rejects_token_id_outside_the_vocabulary(config):
    model = build(config)
    inputs, labels = batch(model)
    inputs[-1][1, 2] = 99
    with pytest.raises(ValueError, match=r"token ids must be from 0 to .*; got 99"):
        packed_loss(model, inputs, labels, PAD)


def test_calls_nonlinear_projection_layers():
    model = build(TRANSLATES)
    for module in list(model.modules()):
        if isinstance(module, MultiHeadAttention):
            module.w_q, module.w_v = (LoRALinear(layer, rank=2, alpha=4.0) for layer in (module.w_q, module.w_v))
            nn.init.normal_(module.w_q.b)
    model.requires_grad_(True)
    assert_same(model, *batch(model))


def test_records_attention_weights():
    model = build(TRANSLATES)
    inputs, labels = batch(model)
    with record_attention(model) as packed:
        packed_loss(model, inputs, labels, PAD)
    with record_attention(model) as plain:
        plain_loss(model, inputs, labels, 0.0)
    assert packed.keys() == plain.keys()
    assert all(len(packed[name]) == len(plain[name]) for name in plain)


def test_dropout_preserves_the_expected_loss():
    torch.manual_seed(0)
    model = build(replace(TRANSLATES, dropout=0.2)).float().train()
    inputs, labels = batch(model)
    with torch.no_grad():
        packed = torch.stack([packed_loss(model, inputs, labels, PAD) for _ in range(100)])
        plain = torch.stack([plain_loss(model, inputs, labels, 0.0) for _ in range(100)])
    assert packed.std() > 0
    error = ((packed.var() + plain.var()) / 100).sqrt()
    assert abs(packed.mean() - plain.mean()) < 4 * error


class Subclass(Transformer):
    def decode(self, *args):
        return 2 * super().decode(*args)


def unsupported_model(kind: str, request: pytest.FixtureRequest) -> nn.Module:
    model = build(TRANSLATES)
    match kind:
        case "subclass":
            twin = Subclass(TRANSLATES).double()
            twin.load_state_dict(model.state_dict())
            return twin
        case "hook":
            model.decoder.layers[1].register_forward_hook(lambda *_: None)
        case "replaced forward":
            model.encoder.forward = deepcopy(model.encoder).forward
        case "global hook":
            request.addfinalizer(register_module_forward_hook(lambda *_: None).remove)
        case "half precision":
            model.bfloat16()
    return model


@pytest.mark.parametrize("kind", ["subclass", "hook", "global hook", "replaced forward", "half precision"])
def test_unsupported_models_use_the_plain_path(kind, request):
    model = unsupported_model(kind, request)
    assert not supports_packing(model, *batch(model), PAD)


@pytest.mark.parametrize("side", ["source", "target", "labels"])
def test_padding_before_a_token_uses_the_plain_path(side):
    model = build(TRANSLATES)
    (source, target), labels = batch(model)
    assert supports_packing(model, (source, target), labels, PAD)
    {"source": source, "target": target, "labels": labels}[side][1, 0] = PAD
    assert not supports_packing(model, (source, target), labels, PAD)


@pytest.mark.parametrize("config", [TRANSLATES, CONTINUES])
def test_autocast_loss_matches_plain_path_precision(config):
    model = build(config).float()
    inputs, labels = batch(model)

    def loss_and_gradients(loss: Callable[..., Tensor], half: bool) -> Tensor:
        with torch.autocast("cpu", torch.bfloat16, enabled=half):
            value = loss(model, inputs, labels, smoothing=0.1)
        gradients = torch.autograd.grad(value, list(model.parameters()), allow_unused=True)
        return torch.cat([g.flatten() for g in (value, *gradients) if g is not None])

    packed = partial(packed_loss, pad_id=PAD)
    exact = loss_and_gradients(packed, half=False)
    error, plain_error = (
        (loss_and_gradients(loss, half=True) - exact).norm() / exact.norm() for loss in (packed, plain_loss)
    )
    assert 0 < error < 1.5 * plain_error < 0.3
