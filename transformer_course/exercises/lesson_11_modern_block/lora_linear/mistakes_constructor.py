"""What goes wrong in freezing the layer and in making the two small matrices.

Some of it is told by what shows in a call: a step that freezes or thaws leaves the parameters so, and a ``b`` of zeros
is one that was not loaded.
"""

import torch
from torch import nn

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_11_modern_block.lora_linear.answer import STEPS
from transformer_lab.layers.lora import LoRALinear

AT_THE_START = "Before the first step of training, which output should come out? That of the layer that came."
TRAINED = "How many parameters of the module have `requires_grad` set to True? Only `a` and `b` should."
SHAPES = "`nn.Parameter` of shape (rank, d_in) for `a`, and (d_out, rank) for `b`."


class AStartsAtZero(LoRALinear):
    def __init__(self, linear, rank, alpha):
        super().__init__(linear, rank, alpha)
        nn.init.zeros_(self.a)


class OnlyAStartsAtZero(AStartsAtZero):
    def __init__(self, linear, rank, alpha):
        super().__init__(linear, rank, alpha)
        nn.init.ones_(self.b)


class Transposed(nn.Module):
    def __init__(self, linear, rank, alpha):
        super().__init__()
        self.linear = linear.requires_grad_(False)
        self.a = nn.Parameter(torch.randn(linear.in_features, rank))
        self.b = nn.Parameter(torch.zeros(rank, linear.out_features))
        self.scale = alpha / rank

    def forward(self, x):
        return self.linear(x) + self.scale * (x @ self.a @ self.b)


class OnlyATransposed(LoRALinear):
    def __init__(self, linear, rank, alpha):
        super().__init__(linear, rank, alpha)
        self.a = nn.Parameter(torch.randn(linear.in_features, rank))


class OnlyBTransposed(LoRALinear):
    def __init__(self, linear, rank, alpha):
        super().__init__(linear, rank, alpha)
        self.b = nn.Parameter(torch.zeros(rank, linear.out_features))


class Swapped(nn.Module):
    def __init__(self, linear, rank, alpha):
        super().__init__()
        self.linear = linear.requires_grad_(False)
        self.a = nn.Parameter(torch.randn(linear.out_features, rank))
        self.b = nn.Parameter(torch.zeros(rank, linear.in_features))
        self.scale = alpha / rank

    def forward(self, x):
        return self.linear(x) + self.scale * (x @ self.b.T @ self.a.T)


class Layers(nn.Module):
    def __init__(self, linear, rank, alpha):
        super().__init__()
        self.linear = linear.requires_grad_(False)
        self.a = nn.Linear(linear.in_features, rank, bias=False)
        self.b = nn.Linear(rank, linear.out_features, bias=False)
        nn.init.zeros_(self.b.weight)
        self.scale = alpha / rank

    def forward(self, x):
        return self.linear(x) + self.scale * self.b(self.a(x))


class LayersWithBiases(Layers):
    def __init__(self, linear, rank, alpha):
        super().__init__(linear, rank, alpha)
        self.a, self.b = nn.Linear(linear.in_features, rank), nn.Linear(rank, linear.out_features)


class NoParameters(nn.Module):
    def __init__(self, linear, rank, alpha):
        super().__init__()
        self.linear = linear.requires_grad_(False)
        self.a = torch.randn(rank, linear.in_features)
        self.b = torch.zeros(linear.out_features, rank)
        self.scale = alpha / rank

    def forward(self, x):
        return self.linear(x) + self.scale * (x @ self.a.T @ self.b.T)


class LayerNotKept(nn.Module):
    def __init__(self, linear, rank, alpha):
        super().__init__()
        self.layer = [linear.requires_grad_(False)]
        self.a = nn.Parameter(torch.randn(rank, linear.in_features))
        self.b = nn.Parameter(torch.zeros(linear.out_features, rank))
        self.scale = alpha / rank

    def forward(self, x):
        return self.layer[0](x) + self.scale * (x @ self.a.T @ self.b.T)


class AnotherName(nn.Module):
    def __init__(self, linear, rank, alpha):
        super().__init__()
        self.base = linear.requires_grad_(False)
        self.a = nn.Parameter(torch.randn(rank, linear.in_features))
        self.b = nn.Parameter(torch.zeros(linear.out_features, rank))
        self.scale = alpha / rank

    def forward(self, x):
        return self.base(x) + self.scale * (x @ self.a.T @ self.b.T)


def bias_thawed(self, x):
    """Leave the bias of the layer to be trained."""
    if self.linear.bias is not None:
        self.linear.bias.requires_grad_()
    return self.linear(x)


def weight_thawed(self, x):
    """Leave the weight of the layer to be trained."""
    self.linear.weight.requires_grad_()
    return self.linear(x)


MISTAKES = [
    Mistake(
        "not_frozen",
        STEPS.but(base=lambda self, x: self.linear.requires_grad_()(x)),
        STEPS.but(base=bias_thawed),
        STEPS.but(base=weight_thawed).attempt,
        does="the layer is not frozen, or not all of it",
        says="The layer that came is not frozen, or not all of it: there are parameters of it that require gradients.",
        hints=[TRAINED],
    ),
    Mistake(
        "b_does_not_start_at_zero",
        STEPS.but(second=lambda self: self.b if self.b.any() else torch.ones_like(self.b)),
        does="`b` does not start at 0",
        says="{does}, so the layer is another one before anything is learned. Look at `__init__`.",
        hints=[AT_THE_START],
    ),
    Mistake(
        "a_starts_at_zero",
        AStartsAtZero,
        says=(
            "`a` starts at 0, as `b` does. Then no gradient reaches either of them: that of `a` is multiplied by `b`, "
            "and that of `b` by `a`. Nothing would ever be learned. Look at `__init__`."
        ),
        hints=[
            "Which gradients do `a` and `b` get if both are 0?",
            "One of the two is enough for the change to begin at 0.",
            "`b` starts at 0, and `a` at random.",
        ],
    ),
    Mistake(
        "only_a_starts_at_zero",
        OnlyAStartsAtZero,
        says=(
            "`a` starts at 0, and `b` does not. The change begins at 0, too, but as agreed it is `b` that starts at 0. "
            "Look at `__init__`."
        ),
        hints=[
            "Which of the two is 0 at the start, and which should be?",
            "In the paper, A is drawn at random and B is 0.",
            "`b` starts at 0, and `a` at random.",
        ],
    ),
    Mistake(
        "shapes_exchanged",
        Transposed,
        OnlyATransposed,
        OnlyBTransposed,
        Swapped,
        says=(
            "`a` or `b` has its two sizes the other way round, or has the other's shape. As in `nn.Linear`, the "
            "outputs come first. Look at `__init__`."
        ),
        hints=[
            "Which shapes are asked for? `a` brings d_in numbers to `rank`, `b` brings these to d_out.",
            "`nn.Linear` keeps its weight as (outputs, inputs), and so do `a` and `b`.",
            SHAPES,
        ],
    ),
    Mistake(
        "layers_instead_of_matrices",
        Layers,
        LayersWithBiases,
        says=(
            "`a` and `b` are linear layers, so the parameters are called `a.weight` and `b.weight`, and cannot be "
            "loaded. Asked for are parameters. Look at `__init__`."
        ),
        hints=[
            "Which names have the parameters of the module?",
            "`nn.Parameter` makes a parameter of a tensor.",
            SHAPES,
        ],
    ),
    Mistake(
        "no_parameters",
        NoParameters,
        says=(
            "`a` and `b` are plain tensors: the module does not know them as its parameters, so no optimizer is given "
            "them. Look at `__init__`."
        ),
        hints=["What does `list(module.parameters())` hold?", "`nn.Parameter` makes a parameter of a tensor.", SHAPES],
    ),
    Mistake(
        "layer_under_another_name",
        AnotherName,
        LayerNotKept,
        says="The module does not keep the layer as `linear`, so it cannot be loaded by that name. Look at `__init__`.",
        hints=[
            "Which names have the parameters of the module?",
            "What is stored in `self` under a name has that name.",
            "`self.linear = linear`.",
        ],
    ),
]
