"""LoRA: the model as it was at the start, small matrices that alone are trained, and a merge that changes no output."""

from copy import deepcopy

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.testing import assert_close

from tests.helpers.language_models import SMALL, drawn
from transformer_lab.layers.lora import LoRALinear, add_lora, merge_lora, merged, replace_layers
from transformer_lab.models.language_model import LanguageModel

TOKENS = torch.tensor([[1, 2, 4, 5], [6, 7, 8, 9]])


def trained_lora(bias: bool = True) -> tuple[LoRALinear, nn.Linear]:
    torch.manual_seed(0)
    linear = nn.Linear(5, 7, bias).double()
    layer = LoRALinear(deepcopy(linear), rank=2, alpha=6.0)
    nn.init.normal_(layer.b)
    return layer, linear


@pytest.mark.parametrize("bias", [True, False])
def test_the_output_is_that_of_one_changed_matrix(bias):
    layer, linear = trained_lora(bias)
    x = torch.randn(2, 3, 5, dtype=torch.float64)
    change = torch.zeros(7, 5, dtype=torch.float64)
    for i in range(7):
        for j in range(5):
            change[i, j] = 6 / 2 * sum(layer.b[i, r] * layer.a[r, j] for r in range(2))
    expected = F.linear(x, linear.weight + change, linear.bias)
    assert_close(layer(x), expected)
    assert_close(merged(layer)(x), expected)
    assert torch.linalg.matrix_rank(merged(layer).weight - linear.weight) == 2


def test_a_model_starts_as_it_was_and_only_the_small_matrices_are_trained():
    model = drawn(SMALL, torch.Generator().manual_seed(0))
    before, frozen = model(TOKENS).detach(), deepcopy(model.state_dict())
    add_lora(model, ["w_q", "w_v"], rank=3, alpha=3.0)
    assert torch.equal(model(TOKENS), before)
    trained = {name: p for name, p in model.named_parameters() if p.requires_grad}
    assert {name.rpartition("w_")[2] for name in trained} == {"q.a", "q.b", "v.a", "v.b"}
    assert sum(p.numel() for p in trained.values()) == 2 * (3 * (12 + 12) + 3 * (12 + 4))
    for _ in range(3):
        F.cross_entropy(model(TOKENS).transpose(1, 2), TOKENS).backward()
        torch.optim.SGD(model.parameters(), lr=0.1).step()
    assert not torch.allclose(model(TOKENS), before)
    now = {name.replace(".linear.", "."): p for name, p in model.state_dict().items()}
    assert all(torch.equal(now[name], p) for name, p in frozen.items())


def test_a_merged_model_has_the_layers_it_had_and_the_outputs_of_the_trained_one():
    model = drawn(SMALL, torch.Generator().manual_seed(0))
    names = list(model.state_dict())
    add_lora(model, ["w_o", "w_1"], rank=3, alpha=2.0)
    for name, parameter in model.named_parameters():
        if name.endswith(".b"):
            nn.init.normal_(parameter)
    trained = model(TOKENS)
    merge_lora(model)
    assert_close(model(TOKENS), trained)
    assert list(model.state_dict()) == names
    assert all(parameter.requires_grad for parameter in model.parameters())
    LanguageModel(SMALL).double().load_state_dict(model.state_dict())


def test_what_cannot_be_adapted_is_named_and_the_model_stays_as_it_was():
    model = LanguageModel(SMALL)
    with pytest.raises(ValueError, match="rank must be positive; got rank=0"):
        add_lora(model, ["w_q"], rank=0, alpha=1.0)
    with pytest.raises(ValueError, match="named w_x"):
        add_lora(model, ["w_x"], rank=2, alpha=1.0)
    assert all(parameter.requires_grad for parameter in model.parameters())


def test_a_layer_alone_is_not_replaced_in_itself():
    linear, adapted = nn.Linear(3, 5), LoRALinear(nn.Linear(3, 5), 1, 1.0)
    with pytest.raises(ValueError, match=r"layers are replaced inside a model; got a single Linear$"):
        add_lora(linear, [""], rank=1, alpha=1.0)
    with pytest.raises(ValueError, match=r"got a single LoRALinear$"):
        merge_lora(adapted)
    assert linear.weight.requires_grad and not adapted.linear.weight.requires_grad
    assert list(adapted.state_dict()) == ["a", "b", "linear.weight", "linear.bias"]


class Other(nn.Linear):
    def __init__(self, linear: nn.Linear) -> None:
        super().__init__(linear.in_features, linear.out_features)


def replaced(model: nn.Module) -> set[str]:
    return {name for name, module in model.named_modules() if isinstance(module, Other)}


def test_layers_of_the_given_names_are_replaced_in_every_block():
    model = LanguageModel(SMALL)
    replace_layers(model, nn.Linear, Other, ["w_q", "w_1"])
    assert replaced(model) == {
        f"blocks.{i}.{name}" for i in (0, 1) for name in ("self_attention.w_q", "feed_forward.w_1")
    }
    model(torch.tensor([[1, 2, 4]]))


def test_without_names_all_are_replaced_but_those_that_share_their_parameters():
    model = LanguageModel(SMALL)
    replace_layers(model, nn.Linear, Other)
    assert len(replaced(model)) == 2 * (4 + 2)
    assert model.head.weight is model.embedding.weight


@pytest.mark.parametrize("names, named", [(["w_q", "w_x", "w_y"], "w_x, w_y"), (["head"], "head")])
def test_names_that_fit_no_layer_are_named_and_nothing_is_replaced(names, named):
    model = LanguageModel(SMALL)
    with pytest.raises(ValueError, match=f"no Linear with parameters of its own named {named}$"):
        replace_layers(model, nn.Linear, Other, names)
    assert replaced(model) == set()
