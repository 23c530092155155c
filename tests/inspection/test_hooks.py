"""Looking inside a model: what is seen is right, and the model is left as it was."""

from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn
from torch.testing import assert_close

from transformer_lab.attention.multi_head import AttentionBase, MultiHeadAttention
from transformer_lab.inspection.hooks import record_attention
from transformer_lab.inspection.shapes import trace_shapes
from transformer_lab.models.language_model import LanguageModel
from transformer_lab.models.language_model_config import LanguageModelConfig
from transformer_lab.models.transformer import Transformer
from transformer_lab.models.transformer_config import TransformerConfig

SIZES = {"d_model": 12, "n_heads": 3, "d_ff": 7, "n_layers": 2, "dropout": 0.0}
SOURCE, TARGET = torch.tensor([[5, 6, 7, 8, 0], [5, 6, 0, 0, 0]]), torch.tensor([[1, 9, 10], [1, 9, 0]])


def transformer() -> Transformer:
    torch.manual_seed(0)
    return Transformer(TransformerConfig(vocab_size=11, **SIZES))


def listeners(model: nn.Module) -> list[object]:
    return [module.weights_hook for module in model.modules() if isinstance(module, AttentionBase)]


def test_every_attention_shows_the_weights_of_every_head_under_its_name():
    model = transformer()
    with record_attention(model) as weights:
        model(SOURCE, TARGET)
    assert {name: tuple(w.shape) for name, w in weights.items()} == {
        **{f"encoder.layers.{i}.self_attention": (2, 3, 5, 5) for i in range(2)},
        **{f"decoder.layers.{i}.self_attention": (2, 3, 3, 3) for i in range(2)},
        **{f"decoder.layers.{i}.cross_attention": (2, 3, 3, 5) for i in range(2)},
    }
    cross, causal = weights["decoder.layers.1.cross_attention"], weights["decoder.layers.0.self_attention"]
    assert_close(cross.sum(dim=-1), torch.ones(2, 3, 3))
    assert (cross[0, ..., 4] == 0).all()
    assert (causal.triu(1) == 0).all()


def test_a_language_model_shows_a_weight_for_every_query_head():
    model = LanguageModel(LanguageModelConfig(11, n_kv_heads=1, positions="alibi", **SIZES))
    with record_attention(model) as weights:
        model(torch.tensor([[1, 2, 4, 5]]))
    assert [tuple(w.shape) for w in weights.values()] == 2 * [(1, 3, 4, 4)]


class OfAnotherMake(nn.Module):
    """The same layers as in the library's class, and a way of its own."""

    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.w_q, self.w_k, self.w_v, self.w_o = (nn.Linear(d_model, d_model) for _ in "qkvo")

    def forward(self, one: Tensor, other: Tensor, third: Tensor, mask: Tensor | None = None) -> Tensor:
        q, k, v = (x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for x in (one, other, third))
        return nn.functional.scaled_dot_product_attention(q, k, v, mask).transpose(1, 2).flatten(2)


@pytest.mark.parametrize("by_name", [False, True])
def test_an_attention_of_another_make_shows_the_same_weights_as_the_librarys(by_name):
    torch.manual_seed(0)
    ours, other = MultiHeadAttention(12, 3), OfAnotherMake(12, 3)
    other.load_state_dict(ours.state_dict())
    query, key, value = torch.randn(2, 5, 12), torch.randn(2, 7, 12), torch.randn(2, 7, 12)
    mask = torch.rand(2, 1, 5, 7) < 0.7
    both = nn.ModuleDict({"ours": ours, "other": other})
    with record_attention(both) as weights:
        ours(query, key, value, mask)
        if by_name:
            other(query, key, value, mask=mask)
        else:
            other(query, key, value, mask)
    assert_close(weights["other"], weights["ours"])
    assert hooks(both) == 0


def test_other_modules_with_projections_are_left_alone():
    model = nn.Module()
    model.w_q, model.w_k = nn.Linear(3, 3), nn.Linear(3, 3)
    with record_attention(model) as weights:
        assert hooks(model) == 0
    assert weights == {}


def test_nothing_is_kept_outside_the_block():
    model = transformer()
    with record_attention(model) as weights:
        pass
    model(SOURCE, TARGET)
    assert weights == {}
    assert listeners(model) == 6 * [None]


def test_of_several_passes_the_last_is_kept():
    model = transformer()
    with record_attention(model) as weights:
        model(SOURCE, TARGET)
        model(SOURCE[:, :2], TARGET)
    assert weights["encoder.layers.0.self_attention"].shape == (2, 3, 2, 2)


def test_a_block_within_a_block_takes_nothing_from_it():
    model = transformer()
    with record_attention(model) as outer:
        with record_attention(model.decoder) as inner:
            model(SOURCE, TARGET)
        assert set(inner) < {name.removeprefix("decoder.") for name in outer}
        assert len(outer) == 6
        within = inner["layers.0.self_attention"]
        assert outer["decoder.layers.0.self_attention"] is within
        model(SOURCE, TARGET)
        assert outer["decoder.layers.0.self_attention"] is not within
        assert inner["layers.0.self_attention"] is within
    assert listeners(model) == 6 * [None]


def test_models_are_recorded_apart():
    one, other = transformer(), transformer()
    with record_attention(one) as of_one, record_attention(other) as of_other:
        one(SOURCE, TARGET)
        assert len(of_one) == 6
        assert of_other == {}
        other(SOURCE[:, :2], TARGET)
    assert of_one["encoder.layers.0.self_attention"].shape == (2, 3, 5, 5)
    assert of_other["encoder.layers.0.self_attention"].shape == (2, 3, 2, 2)


def test_an_error_in_the_block_leaves_no_listener_behind():
    model = transformer()
    with pytest.raises(ZeroDivisionError), record_attention(model) as weights:
        model(SOURCE, TARGET)
        _ = 1 / 0
    assert len(weights) == 6
    assert listeners(model) == 6 * [None]


def test_a_table_of_shapes_lists_modules_in_the_order_in_which_they_begin():
    table = trace_shapes(transformer(), SOURCE, TARGET)
    assert list(table.columns) == ["module", "class", "input shapes", "output shape", "parameters"]
    layer = table[table.module.str.startswith("decoder.layers.1")].reset_index(drop=True)
    assert layer.module.str.removeprefix("decoder.layers.1").tolist() == [
        "",
        ".self_attention",
        *(f".self_attention.w_{letter}" for letter in "qkvo"),
        ".dropout",
        ".norm_1",
        ".cross_attention",
        *(f".cross_attention.w_{letter}" for letter in "qkvo"),
        ".dropout",
        ".norm_2",
        ".feed_forward",
        ".feed_forward.w_1",
        ".feed_forward.w_2",
        ".dropout",
        ".norm_3",
    ]
    whole = table.iloc[0].drop("parameters").tolist()
    assert whole == ["", "Transformer", "(2, 5), (2, 3)", "(2, 3, 11)"]
    cross = layer.iloc[8]
    assert cross["class"] == "MultiHeadAttention"
    assert cross["input shapes"] == "(2, 3, 12), (2, 5, 12), (2, 5, 12), (2, 1, 1, 5)"
    assert cross["output shape"] == "(2, 3, 12)"
    assert cross.parameters == 4 * (12 * 12 + 12)


def test_parameters_that_are_shared_count_once():
    model = transformer()
    table = trace_shapes(model, SOURCE, TARGET)
    assert table.parameters[0] == sum(parameter.numel() for parameter in model.parameters())
    tied = LanguageModel(LanguageModelConfig(11, **SIZES))
    untied = LanguageModel(replace(tied.config, tied=False))
    one, other = (trace_shapes(model, torch.tensor([[1, 2]])).parameters[0] for model in (tied, untied))
    assert other - one == 11 * 12


def test_a_module_that_is_used_twice_has_two_rows():
    layer = nn.Linear(3, 3)
    table = trace_shapes(nn.Sequential(layer, nn.ReLU(), layer), torch.zeros(5, 3))
    assert table["class"].tolist() == ["Sequential", "Linear", "ReLU", "Linear"]
    assert table.module.tolist() == ["", "0", "1", "0"]
    assert table.parameters.tolist() == [12, 12, 0, 12]


class Nested(nn.Module):
    """Takes and gives tensors in tuples, lists and dictionaries, among other things."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.LSTM(3, 5)

    def forward(self, pair: tuple[Tensor, int], *, words: dict[str, list[Tensor]], scale: float = 1.0) -> object:
        output, (h, c) = self.cell(pair[0])
        return {"all": output * scale, "last": [h, (c, None)], "sum": words["a"][0].sum(), "name": "nested"}


def test_tensors_are_found_in_tuples_lists_and_dictionaries():
    words = {"a": [torch.zeros(11), torch.zeros(13, 2)]}
    table = trace_shapes(Nested(), (torch.zeros(7, 3), 1), words=words, scale=2.0)
    assert table["input shapes"].tolist() == ["(7, 3), (11,), (13, 2)", "(7, 3)"]
    assert table["output shape"].tolist() == ["(7, 5), (1, 5), (1, 5), ()", "(7, 5), (1, 5), (1, 5)"]


def test_torch_s_own_models_can_be_traced():
    model = nn.TransformerEncoder(nn.TransformerEncoderLayer(12, 2, 7, batch_first=True), 2).eval()
    table = trace_shapes(model, torch.zeros(2, 5, 12))
    assert table[table.module == "layers.1.linear1"]["output shape"].tolist() == ["(2, 5, 7)"]


def hooks(model: nn.Module) -> int:
    return sum(len(module._forward_hooks) + len(module._forward_pre_hooks) for module in model.modules())


@pytest.mark.parametrize("training", [True, False])
def test_tracing_leaves_the_model_as_it_was(training):
    model = transformer().train(training)
    model.decoder.layers[1].train(not training)
    modes = [module.training for module in model.modules()]
    before = {name: value.clone() for name, value in model.state_dict().items()}
    trace_shapes(model, SOURCE, TARGET)
    assert [module.training for module in model.modules()] == modes
    assert hooks(model) == 0
    assert all(parameter.grad is None for parameter in model.parameters())
    assert_close(dict(model.state_dict()), before)


def test_tracing_removes_its_hooks_even_where_the_model_fails():
    model = transformer()
    with pytest.raises(ValueError, match="got 11"):
        trace_shapes(model, SOURCE, torch.tensor([[11]]).expand(2, 1))
    assert hooks(model) == 0
    assert len(trace_shapes(model, SOURCE, TARGET)) > 1


def test_tracing_keeps_no_gradients():
    kept = []
    model = nn.Sequential(nn.Linear(3, 5))
    model.register_forward_hook(lambda _model, _args, output: kept.append(output.requires_grad))
    trace_shapes(model, torch.zeros(2, 3))
    assert kept == [False]
    assert hooks(model) == 1
