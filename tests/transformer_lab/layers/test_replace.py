"""Layers of a finished model are replaced where they were named, and nowhere else."""

import pytest
import torch
from torch import nn

from tests.helpers.language_models import SMALL
from transformer_lab.layers.replace import replace_layers
from transformer_lab.models.language_model import LanguageModel


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
