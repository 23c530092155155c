"""Tests that recorded attention weights are correct, and that recording leaves the model unchanged."""

import pytest
import torch
from torch import Tensor, nn
from torch.testing import assert_close

from tests.helpers.inspected_model import SIZES, SOURCE, TARGET, hooks, transformer
from transformer_lab.attention.multi_head import AttentionBase, MultiHeadAttention
from transformer_lab.generation.beam_search import beam_search
from transformer_lab.inspection.hooks import record_attention
from transformer_lab.models.language_model import LanguageModel
from transformer_lab.models.language_model_config import LanguageModelConfig


def weights_hooks_of(model: nn.Module) -> list[object]:
    return [hook for module in model.modules() if isinstance(module, AttentionBase) for hook in module.weights_hooks]


def test_records_weights_of_every_head_by_module():
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


def test_beams_of_a_source_share_one_row():
    model = transformer().eval()
    with record_attention(model) as weights:
        beam_search(model, SOURCE, bos_id=1, eos_id=2, max_length=4, beam_size=3)
    assert weights["decoder.layers.1.cross_attention"].shape == (2, 3, 3 * 1, 5)


def test_records_weights_for_every_query_head():
    model = LanguageModel(LanguageModelConfig(11, n_kv_heads=1, positions="alibi", **SIZES))
    with record_attention(model) as weights:
        model(torch.tensor([[1, 2, 4, 5]]))
    assert [tuple(w.shape) for w in weights.values()] == 2 * [(1, 3, 4, 4)]


class OtherAttention(nn.Module):
    """An attention class with the library's layer names but a different implementation."""

    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.w_q, self.w_k, self.w_v, self.w_o = (nn.Linear(d_model, d_model) for _ in "qkvo")

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
        q, k, v = (x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for x in (query, key, value))
        return nn.functional.scaled_dot_product_attention(q, k, v, mask).transpose(1, 2).flatten(2)


@pytest.mark.parametrize("by_name", [False, True])
def test_records_the_same_weights_for_another_attention_class(by_name):
    torch.manual_seed(0)
    ours, other = MultiHeadAttention(12, 3), OtherAttention(12, 3)
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


def test_ignores_non_attention_modules_with_projections():
    model = nn.Module()
    model.w_q, model.w_k = nn.Linear(3, 3), nn.Linear(3, 3)
    with record_attention(model) as weights:
        assert hooks(model) == 0
    assert weights == {}


def test_records_nothing_outside_the_block():
    model = transformer()
    with record_attention(model) as weights:
        pass
    model(SOURCE, TARGET)
    assert weights == {}
    assert weights_hooks_of(model) == []


def test_records_only_the_last_forward_pass():
    model = transformer()
    with record_attention(model) as weights:
        model(SOURCE, TARGET)
        model(SOURCE[:, :2], TARGET)
    assert weights["encoder.layers.0.self_attention"].shape == (2, 3, 2, 2)


def test_nested_blocks_record_independently():
    model = transformer()
    with record_attention(model) as outer:
        with record_attention(model.decoder) as inner:
            model(SOURCE, TARGET)
        assert set(inner) < {name.removeprefix("decoder.") for name in outer}
        assert len(outer) == 6
        recorded_inside = inner["layers.0.self_attention"]
        assert outer["decoder.layers.0.self_attention"] is recorded_inside
        model(SOURCE, TARGET)
        assert outer["decoder.layers.0.self_attention"] is not recorded_inside
        assert inner["layers.0.self_attention"] is recorded_inside
    assert weights_hooks_of(model) == []


def test_records_models_separately():
    first, second = transformer(), transformer()
    with record_attention(first) as first_weights, record_attention(second) as second_weights:
        first(SOURCE, TARGET)
        assert len(first_weights) == 6
        assert second_weights == {}
        second(SOURCE[:, :2], TARGET)
    assert first_weights["encoder.layers.0.self_attention"].shape == (2, 3, 5, 5)
    assert second_weights["encoder.layers.0.self_attention"].shape == (2, 3, 2, 2)


def test_removes_hooks_after_an_error():
    model = transformer()
    with pytest.raises(ZeroDivisionError), record_attention(model) as weights:
        model(SOURCE, TARGET)
        _ = 1 / 0
    assert len(weights) == 6
    assert weights_hooks_of(model) == []
