"""Tests for the outputs of stand-in models with small tables, and for their state and descriptions."""

import pytest
import torch

from transformer_course.running.plain_data import pack, unpack
from transformer_course.running.stand_in_models import (
    build_model,
    describe_model,
    is_description,
    state_of,
)

TOKENS = torch.tensor([[0, 1], [1, 1]])


MIXER = {
    "embedding": torch.tensor([[1.0], [10.0]]),
    "mixing": torch.tensor([[1.0, 0], [2, 3]]),
    "mixing_in_training": torch.tensor([[0.0, 1], [1, 0]]),
    "noise": torch.tensor(0.0),
}


def test_token_mixer_mixes_embeddings_by_position():
    model = build_model(describe_model("token_mixer", **MIXER)).eval()
    assert model(TOKENS).tolist() == [[[1.0], [32.0]], [[10.0], [50.0]]]
    assert model(TOKENS[:, :1]).tolist() == [[[1.0]], [[10.0]]]


def test_token_mixer_differs_in_training_mode():
    assert build_model(describe_model("token_mixer", **MIXER))(TOKENS).tolist() == [[[10.0], [1.0]], [[10.0], [10.0]]]
    noisy = build_model(describe_model("token_mixer", **{**MIXER, "noise": torch.tensor(1.0)}))
    assert not torch.equal(noisy(TOKENS), noisy(TOKENS))
    assert torch.equal(noisy.eval()(TOKENS), noisy(TOKENS))


def test_only_some_tokens_receive_later_tokens():
    leaky = {**MIXER, "mixing": torch.tensor([[1.0, 2], [0, 1]]), "hears_later": torch.tensor([0.0, 1.0])}
    model = build_model(describe_model("token_mixer", **leaky)).eval()
    assert model(TOKENS).tolist() == [[[1.0], [10.0]], [[30.0], [10.0]]]


def test_mixer_starts_in_train_mode_by_default():
    assert build_model(describe_model("token_mixer", **MIXER)).training
    assert not build_model(describe_model("token_mixer", **MIXER, evaluates=torch.tensor(True))).training


def test_mixer_rejects_negative_tokens():
    with pytest.raises(IndexError):
        build_model(describe_model("token_mixer", **MIXER))(torch.tensor([[0, -1]]))


def test_mixer_rejects_too_many_tokens():
    with pytest.raises(ValueError, match="at most 2 tokens; got 3"):
        build_model(describe_model("token_mixer", **MIXER))(torch.tensor([[0, 1, 1]]))


def test_sampler_adds_constant_noise_to_logits():
    sample = build_model(describe_model("fixed_noise_sampler", noise=torch.tensor([0.0, 0.5, -9.0])))
    logits = torch.tensor([[1.0, 0.8, 2.0], [1.0, 0.4, 2.0]])
    assert sample(logits).tolist() == sample(logits).tolist() == [1, 0]
    with pytest.raises(ValueError, match=r"\(batch, vocab_size\); got \(1, 2, 3\)"):
        sample(logits[None])


def test_state_contains_tables_and_training_mode():
    mixer = build_model(describe_model("token_mixer", **MIXER))
    assert state_of(mixer).keys() == {*MIXER, "training"}
    assert state_of(mixer)["training"]
    assert not state_of(mixer.eval())["training"]


def test_next_token_table_uses_only_last_token():
    model = build_model(describe_model("next_token_table", transition=torch.tensor([[1.0, 2], [3, 4]])))
    assert model(TOKENS).tolist() == [[[1, 2], [3, 4]], [[3, 4], [3, 4]]]


def test_translator_depends_on_source_and_position():
    model = build_model(
        describe_model(
            "table_translator",
            transition=torch.tensor([[1.0, 2], [3, 4]]),
            reading=torch.tensor([[10.0, 0], [0, 100]]),
            places=torch.tensor([[0.0, 0], [0.5, 0]]),
        )
    )
    assert model(TOKENS, TOKENS[:, :1]).tolist() == [[[11, 102]], [[3, 204]]]
    assert model(TOKENS[:1, :1], torch.tensor([[0, 0]])).tolist() == [[[11, 2], [11.5, 2]]]
    with pytest.raises(ValueError, match="accepts at most 2 target tokens; got 3"):
        model(TOKENS, torch.zeros(2, 3).long())


def test_tied_parameters_share_one_weight():
    shapes = {"embedding": (3, 2), "weight": (5, 2), "bias": (5,), "norm_weight": (2,), "norm_bias": (2,)}
    shapes |= {"places": (4, 2), "filters": (2, 2, 2), "table": (3, 2), "gate": (2,), "scale": (), "positions": (4, 2)}
    model = build_model(
        describe_model("tied_parameters", **{name: torch.ones(shape) for name, shape in shapes.items()})
    )
    assert model.source_embedding.weight is model.target_embedding.weight is model.output.weight
    assert sorted(p.dim() for p in model.parameters()) == [0, 1, 1, 1, 1, 2, 2, 2, 2, 3]
    assert [name for name, _ in model.named_buffers()] == ["positions"]


def test_changed_tables_do_not_affect_earlier_models():
    description = describe_model("next_token_table", transition=torch.ones(2, 2))
    build_model(description).transition.zero_()
    assert torch.equal(build_model(description).transition, torch.ones(2, 2))


def test_description_is_plain_data():
    description = describe_model("next_token_table", transition=torch.eye(2))
    received = unpack(pack(description))
    assert is_description(received)
    assert torch.equal(build_model(received)(TOKENS), build_model(description)(TOKENS))


@pytest.mark.parametrize("value", [None, 3, torch.ones(2), {}, {"stand_in": "x"}, {"a": 1, "b": 2}, [1]])
def test_is_description_rejects_malformed_data(value):
    assert not is_description(value)


def test_rejects_unknown_model():
    with pytest.raises(ValueError, match="unknown stand-in model 'gpt'"):
        describe_model("gpt")


def test_linear_layer_matches_torch():
    tables = {"weight": torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), "bias": torch.tensor([7.0, 8.0, 9.0])}
    layer = build_model(describe_model("linear_layer", **tables))
    assert isinstance(layer, torch.nn.Linear)
    assert (layer.in_features, layer.out_features) == (2, 3)
    assert layer(torch.ones(2)).tolist() == [10.0, 15.0, 20.0]
    assert build_model(describe_model("linear_layer", weight=tables["weight"])).bias is None


def test_month_reader_averages_embeddings():
    tables = {"embedding": torch.tensor([[1.0], [3.0]]), "weight": torch.tensor([[1.0], [2.0]])}
    model = build_model(describe_model("month_reader", **tables, bias=torch.tensor([0.0, 10.0])))
    assert model(torch.tensor([[0, 1], [1, 1]])).tolist() == [[2.0, 14.0], [3.0, 16.0]]
    assert [name for name, _ in model.named_parameters()] == ["embedding.weight", "output.weight", "output.bias"]


def test_parameters_have_given_gradients():
    tables = {"embedding.weight": torch.ones(3, 2), "embedding.weight.grad": torch.full((3, 2), 5.0)}
    tables |= {"layers.0.w.weight": torch.ones(4, 2), "layers.0.w.bias": torch.ones(4), "scale": torch.tensor(2.0)}
    tables |= {"layers.0.w.bias.grad": torch.arange(4.0), "frozen": torch.ones(1), "tied": torch.tensor(True)}
    model = build_model(describe_model("after_backward", **tables))
    assert model.head.weight is model.embedding.weight
    gradients = {name: None if p.grad is None else p.grad.tolist() for name, p in model.named_parameters()}
    assert gradients == {
        "embedding.weight": [[5.0, 5.0]] * 3,
        "layers.0.w.weight": None,
        "layers.0.w.bias": [0.0, 1.0, 2.0, 3.0],
        "scale": None,
        "frozen": None,
    }
    assert [name for name, p in model.named_parameters() if not p.requires_grad] == ["frozen"]


def test_state_detects_changed_and_new_gradients():
    tables = {"w.weight": torch.ones(2, 3), "w.weight.grad": torch.ones(2, 3), "w.bias": torch.ones(2)}
    model = build_model(describe_model("after_backward", **tables))
    before = state_of(model)
    assert before["w.bias.grad"] is None
    model.get_parameter("w.weight").grad.zero_()
    model.get_parameter("w.bias").sum().backward()
    assert [float(state_of(model)[f"w.{name}.grad"].sum()) for name in ("weight", "bias")] == [0.0, 2.0]
    assert float(before["w.weight.grad"].sum()) == 6.0


def test_caching_mixer_uses_different_table_for_single_token():
    tables = {"embedding": torch.tensor([[1.0], [10.0]]), "mixing": torch.tensor([[1.0, 0], [2, 3]])}
    model = build_model(describe_model("caching_mixer", **tables, cached_mixing=torch.tensor([[1.0, 0], [2, 5]])))
    cache, tokens = model.new_cache(), torch.tensor([[0, 1]])
    assert model(tokens).tolist() == [[[1.0], [32.0]]]
    assert model(tokens[:, :1], cache).tolist() == [[[1.0]]]
    assert model(tokens[:, 1:], cache).tolist() == [[[52.0]]]
    assert model(tokens, model.new_cache()).tolist() == model(tokens).tolist()
    with pytest.raises(ValueError, match="accepts at most 2 tokens; got 3"):
        model(tokens[:, 1:], cache)
    with pytest.raises(ValueError, match="batch size 1 but the tokens have batch size 2"):
        model(tokens.expand(2, -1), cache)


@pytest.mark.parametrize(("hears", "counts", "expected"), [(0.0, False, 2.0), (1.0, False, 4.0), (0.0, True, 14.0)])
def test_padded_reader_reads_and_counts_padding(hears, counts, expected):
    tables = {"embedding": torch.tensor([[6.0], [2.0]]), "places": torch.tensor([[1.0], [7.0]])}
    faults = {"hears_padding": torch.tensor(hears), "counts_padding": torch.tensor(counts)}
    model = build_model(
        describe_model("padded_reader", **tables, **faults, pad_id=torch.tensor(0), at_padding=torch.tensor(0.5))
    )
    assert model(torch.tensor([[1]])).tolist() == [[[2.0]]]
    assert model(torch.tensor([[0, 1]]))[0, 1].tolist() == [expected]
    with pytest.raises(ValueError, match="accepts at most 2 tokens; got 3"):
        model(torch.ones(1, 3).long())


def test_scales_outputs_only_in_training_mode():
    tables = {"embedding": torch.ones(1, 1), "mixing": torch.ones(1, 1), "cached_mixing": torch.ones(1, 1)}
    tables |= {"gain_in_training": torch.tensor(1.5)}
    token = torch.zeros(1, 1).long()
    assert build_model(describe_model("caching_mixer", **tables))(token).item() == 1.5
    model = build_model(describe_model("caching_mixer", **tables, evaluates=torch.tensor(True)))
    assert not model.training
    assert model(token).item() == 1.0


def test_position_mixer_mixes_and_projects():
    tables = {"mixing": torch.tensor([[1.0, 0, 2]]), "projection": torch.tensor([[1.0, 1.0], [0.0, 3.0]])}
    x = torch.tensor([[1.0, 0], [9, 9], [0, 1]])
    assert build_model(describe_model("position_mixer", **tables))(x).tolist() == [[1.0, 7.0]]


@pytest.mark.parametrize("ends_in_norm", [False, True])
def test_normed_layer_adds_given_multiples(ends_in_norm):
    torch.manual_seed(0)
    x, mixing, projections = torch.randn(2, 3, 5), torch.randn(2, 3, 3), torch.randn(2, 5, 5)
    sums = torch.tensor([[0.5, 0.0], [1.0, -2.0]])
    layer = describe_model(
        "normed_layer", mixing=mixing, projections=projections, sums=sums, ends_in_norm=torch.tensor(ends_in_norm)
    )
    norm = torch.nn.LayerNorm(5)
    first = 0.5 * x + torch.einsum("ij,bjd,de->bie", mixing[0], norm(x), projections[0])
    second = first - 2 * norm(first) + torch.einsum("ij,bjd,de->bie", mixing[1], norm(first), projections[1])
    torch.testing.assert_close(build_model(layer)(x), (norm(second) if ends_in_norm else second).detach())
