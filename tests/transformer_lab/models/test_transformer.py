"""Test the whole Transformer against torch's layers, and test its parameters and dropout."""

from functools import partial

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.testing import assert_close

from tests.helpers.torch_parity import assert_twins, drawn, either_way, make_twins
from transformer_lab.attention.masks import causal_mask
from transformer_lab.inspection.hooks import record_attention
from transformer_lab.models.transformer import Transformer
from transformer_lab.models.transformer_config import TransformerConfig

PAD, SOURCE_PAD = 4, 9
SOURCE = torch.tensor([[1, 2, SOURCE_PAD, 4, 5, 6, 7], [PAD, 8, 3, 2, SOURCE_PAD, SOURCE_PAD, SOURCE_PAD]])
TARGET = torch.tensor([[1, 2, 3, 5, 12], [7, 0, 9, PAD, PAD]])
SMALL = TransformerConfig(
    vocab_size=13, d_model=12, n_heads=3, d_ff=17, n_layers=2, max_length=11, dropout=0.0,
    source_pad_id=SOURCE_PAD, target_pad_id=PAD,
)  # fmt: skip
variants = pytest.mark.parametrize(
    "others",
    [
        {},
        {"pre_norm": True},
        {"learned_positions": True},
        {"source_vocab_size": 10},
        {"feed_forward": "silu", "output_bias": True},
        {"feed_forward": "gelu"},
    ],
    ids=["paper's", "pre-norm", "learned positions", "two vocabularies", "Marian's", "GELU"],
)


def small(**others: object) -> Transformer:
    return Transformer(TransformerConfig(**vars(SMALL) | others))


class FromTorch(nn.Module):
    """A Transformer without embeddings, built from torch's encoder and decoder."""

    def __init__(self, ours: Transformer) -> None:
        super().__init__()
        config = ours.config
        # functions, because torch's decoder loses activation modules when it copies a layer
        activations = {"relu": F.relu, "gelu": F.gelu, "gelu_tanh": partial(F.gelu, approximate="tanh"), "silu": F.silu}
        activation = activations[config.feed_forward]
        options = {"dropout": 0.0, "activation": activation, "batch_first": True, "norm_first": config.pre_norm}
        sizes = (config.d_model, config.n_heads, config.d_ff)
        self.transformer = nn.Transformer(
            config.d_model,
            config.n_heads,
            batch_first=True,
            custom_encoder=nn.TransformerEncoder(
                nn.TransformerEncoderLayer(*sizes, **options),
                config.n_layers,
                # nn.Transformer adds a final norm even for post-norm, unlike the paper
                nn.LayerNorm(config.d_model) if config.pre_norm else None,
                enable_nested_tensor=False,
            ),
            custom_decoder=nn.TransformerDecoder(
                nn.TransformerDecoderLayer(*sizes, **options),
                config.n_layers,
                nn.LayerNorm(config.d_model) if config.pre_norm else None,
            ),
        )

    def forward(self, source, target, source_hidden, target_hidden):
        return self.transformer(
            source,
            target,
            tgt_mask=~causal_mask(target.shape[1]),
            src_key_padding_mask=source_hidden,
            tgt_key_padding_mask=target_hidden,
            memory_key_padding_mask=source_hidden,
        )


@either_way
@variants
def test_matches_torch_given_the_same_embeddings(others, copied_from):
    ours = small(**others)
    theirs = FromTorch(ours)
    for embedding in {ours.encoder.embedding, ours.decoder.embedding}:
        nn.init.normal_(embedding.double().weight)
    stacks = nn.ModuleDict({"encoder": nn.ModuleDict(), "decoder": nn.ModuleDict()})
    for name, stack in stacks.items():
        stack["layers"], stack["norm"] = getattr(ours, name).layers, getattr(ours, name).norm
    ours.double()
    make_twins(stacks, theirs.transformer, copied_from)
    source, target = ours.encoder.embed(SOURCE), ours.decoder.embed(TARGET)
    decoded = theirs(source, target, SOURCE == SOURCE_PAD, TARGET == PAD)
    output = nn.functional.linear(decoded, ours.decoder.embedding.weight)
    if ours.output_bias is not None:
        output = output + nn.init.normal_(ours.output_bias)
    embeddings = {ours.encoder.embedding.weight, ours.decoder.embedding.weight}
    assert_twins(stacks, theirs.transformer, ours(SOURCE, TARGET), output, *embeddings)


@pytest.mark.parametrize("name, parameters", [("base", 63_082_496), ("big", 214_245_376)])
def test_base_and_big_have_the_documented_parameter_counts(name, parameters):
    config = getattr(TransformerConfig, name)(37_000)
    with torch.device("meta"):
        assert sum(parameter.numel() for parameter in Transformer(config).parameters()) == parameters
    assert f"{parameters:,}" in getattr(TransformerConfig, name).__doc__


def test_shared_vocabulary_shares_embeddings_and_last_layer():
    shared, separate = small(), small(source_vocab_size=10)
    assert shared.encoder.embedding.weight is shared.decoder.embedding.weight
    assert separate.encoder.embedding.weight.shape == (10, 12)
    assert separate.decoder.embedding.weight.shape == (13, 12)
    logits = shared(SOURCE, TARGET)
    with torch.no_grad():
        shared.decoder.embedding.weight[11] *= 2  # token 11 occurs in neither text
    changed = shared(SOURCE, TARGET)
    assert_close(changed[..., 11], 2 * logits[..., 11])
    assert torch.equal(changed[..., :11], logits[..., :11])


def test_tied_embeddings_survive_saving_and_loading():
    saved, loaded = drawn(small()), small().double()
    loaded.load_state_dict(saved.state_dict())
    assert loaded.encoder.embedding.weight is loaded.decoder.embedding.weight
    assert torch.equal(loaded(SOURCE, TARGET), saved(SOURCE, TARGET))


@variants
def test_dropout_is_active_only_in_training(others):
    for dropout in [0.0, 0.5]:
        model = small(**others | {"dropout": dropout})
        for run in (lambda model=model: model(SOURCE, TARGET), lambda model=model: model.encode(SOURCE)):
            model.eval()
            evaluated = run()
            assert torch.equal(run(), evaluated)
            model.train()
            assert torch.equal(run(), evaluated) is (dropout == 0)


@pytest.mark.parametrize("attention_dropout", [0.0, 0.5])
def test_attention_dropout_is_off_by_default(attention_dropout):
    model = small(dropout=0.5, attention_dropout=attention_dropout).train()
    with record_attention(model) as weights:
        model(SOURCE, TARGET)
    names = [
        *(f"encoder.layers.{i}.self_attention" for i in range(2)),
        *(f"decoder.layers.{i}.{which}_attention" for i in range(2) for which in ["self", "cross"]),
    ]
    assert list(weights) == names
    sums_are_one = all(torch.allclose(rows.sum(dim=-1), torch.ones(())) for rows in weights.values())
    assert sums_are_one is (attention_dropout == 0)


@variants
def test_padding_only_texts_do_not_affect_other_texts(others):
    model = drawn(small(**others))
    source = torch.cat([SOURCE, torch.full((1, 7), SOURCE_PAD)])
    target = torch.cat([TARGET, torch.full((1, 5), PAD)])
    logits = model(source, target)
    assert_close(logits[:2], model(SOURCE, TARGET))
    logits.sum().backward()
    assert all(parameter.grad.isfinite().all() for parameter in model.parameters())


@variants
def test_padding_token_can_begin_a_target(others):
    model = drawn(small(**others, hide_target_padding=False))
    without_padding = small(**others, target_pad_id=11).double()  # token 11 does not occur in the texts
    without_padding.load_state_dict(model.state_dict())
    target = torch.tensor([[PAD, 2, 3, 5, 12], [PAD, 0, 9, PAD, PAD]])
    assert_close(model(SOURCE, target), without_padding(SOURCE, target))
    assert_close(model(SOURCE, target)[1, :3], model(SOURCE[1:], target[1:, :3])[0])
