"""The answer to ``FeedForward``, plainly and in steps."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from transformer_course.steps import InSteps


class FeedForward(nn.Module):
    """Two linear layers with a ReLU between them."""

    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.w_1 = nn.Linear(d_model, d_ff)
        self.w_2 = nn.Linear(d_ff, d_model)

    def forward(self, x: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch d_model"]:
        return self.w_2(torch.relu(self.w_1(x)))


def first_layer(self):
    """choose `w_1`

    the first layer: `w_1`
    """
    return self.w_1


def hidden(first_layer, x):
    """apply it to x

    the hidden features: the output of the first layer
    """
    return first_layer(x)


def activated(hidden):
    """set the negative numbers to 0, with a ReLU

    the activations: the hidden features after the ReLU
    """
    return torch.relu(hidden)


def second_layer(self):
    """choose `w_2`

    the second layer: `w_2`
    """
    return self.w_2


def output(second_layer, activated):
    """apply it to the result

    the output of the second layer
    """
    return second_layer(activated)


STEPS = InSteps(first_layer, hidden, activated, second_layer, output, reference=FeedForward)
