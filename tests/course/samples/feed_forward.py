"""A module."""

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from tests.course.samples.said import LADDER, mistake
from transformer_lab.course.call import Case
from transformer_lab.course.exercise import Exercise
from transformer_lab.course.exercises.drawing import generator, normal


class FeedForward(nn.Module):
    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.w_1 = nn.Linear(d_model, d_ff)
        self.w_2 = nn.Linear(d_ff, d_model)

    def forward(self, x: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch d_model"]:
        return self.w_2(torch.relu(self.w_1(x)))


def feed_forward_cases(seed):
    rng = generator(seed)

    def case(d_model, d_ff, leading, shows):
        parameters = {
            "w_1.weight": normal(rng, d_ff, d_model),
            "w_1.bias": normal(rng, d_ff),
            "w_2.weight": normal(rng, d_model, d_ff),
            "w_2.bias": normal(rng, d_model),
        }
        inputs = {"x": normal(rng, *leading, d_model)}
        sizes = {"d_model": d_model, "d_ff": d_ff}
        return Case(inputs, shows, how="module", arguments=sizes, parameters=parameters, gradients=True)

    return [
        case(2, 3, (1,), "one position"),
        case(3, 5, (2,), "2 positions"),
        case(5, 11, (7, 3), "a batch of 7"),
    ]


class WithoutRelu(FeedForward):
    def forward(self, x):
        return self.w_2(self.w_1(x))


class ReluAtTheEnd(FeedForward):
    def forward(self, x):
        return torch.relu(self.w_2(self.w_1(x)))


class GeluInstead(FeedForward):
    def forward(self, x):
        return self.w_2(F.gelu(self.w_1(x)))


class SecondBiasForgotten(FeedForward):
    def forward(self, x):
        return F.linear(torch.relu(self.w_1(x)), self.w_2.weight)


class AddsTheInput(FeedForward):
    def forward(self, x):
        return x + self.w_2(torch.relu(self.w_1(x)))


class DropoutInEval(FeedForward):
    def forward(self, x):
        return self.w_2(F.dropout(torch.relu(self.w_1(x)), 0.5))


class DropoutInTraining(FeedForward):
    def forward(self, x):
        return self.w_2(F.dropout(torch.relu(self.w_1(x)), 0.5, self.training))


class CutsTheGradient(FeedForward):
    def forward(self, x):
        return self.w_2(torch.relu(self.w_1(x)).detach())


class LayersWithoutBias(FeedForward):
    def __init__(self, d_model, d_ff):
        super().__init__(d_model, d_ff)
        self.w_1 = nn.Linear(d_model, d_ff, bias=False)
        self.w_2 = nn.Linear(d_ff, d_model, bias=False)


class UnusedLayer(FeedForward):
    def __init__(self, d_model, d_ff):
        super().__init__(d_model, d_ff)
        self.w_3 = nn.Linear(d_model, d_model)


class OtherNames(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.linear1 = nn.Linear(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.linear2(torch.relu(self.linear1(x)))


class SizesSwapped(FeedForward):
    def __init__(self, d_model, d_ff):
        super().__init__(d_ff, d_model)


FEED_FORWARD = Exercise(
    reference=FeedForward,
    cases=feed_forward_cases,
    points=2,
    verified="Two layers with a ReLU between them.",
    hints=LADDER,
    mistakes=[
        mistake(WithoutRelu, "Nothing stands between the two layers, so together they are one linear layer."),
        mistake(ReluAtTheEnd, "The ReLU comes too late: no output can be negative."),
        mistake(GeluInstead, "This is a GELU; the paper of 2017 has a ReLU."),
        mistake(SecondBiasForgotten, "The bias of the second layer is not used."),
        mistake(AddsTheInput, "The residual connection belongs to the layer around it."),
        mistake(DropoutInEval, "Something is dropped at random even in eval mode."),
        mistake(DropoutInTraining, "Something is dropped at random in train mode; there is no dropout here."),
        mistake(CutsTheGradient, "No gradient reaches the first layer: something cuts it off."),
        mistake(LayersWithoutBias, "The layers have no biases."),
        mistake(UnusedLayer, "There is a layer that takes no part."),
        mistake(OtherNames, "The layers have other names than those asked for."),
        mistake(SizesSwapped, "The two sizes have changed places."),
    ],
)
