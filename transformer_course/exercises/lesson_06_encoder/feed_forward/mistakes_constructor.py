"""What goes wrong in making two linear layers."""

import torch
from torch import nn

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_06_encoder.feed_forward.answer import FeedForward


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


MISTAKES = [
    Mistake(
        "layers_without_bias",
        LayersWithoutBias,
        says="The layers have no biases. Look at `__init__`.",
        hints=[
            "`__init__` was right as it was given.",
            "How many parameters has `nn.Linear(2, 3)`?",
            "Leave `bias=False` out.",
        ],
    ),
    Mistake(
        "unused_layer",
        UnusedLayer,
        says="There is a layer that takes no part. Look at `__init__`.",
        hints=[
            "`__init__` was right as it was given.",
            "Two layers are asked for.",
            "Remove the third.",
        ],
    ),
    Mistake(
        "other_names",
        OtherNames,
        says=(
            "The layers have other names than those asked for, so no parameters can be loaded into them. Look at "
            "`__init__`."
        ),
        hints=[
            "`__init__` was right as it was given.",
            "Parameters are loaded by name.",
            "`w_1` and `w_2`.",
        ],
    ),
    Mistake(
        "sizes_swapped",
        SizesSwapped,
        says=(
            "The two sizes have changed places: the network is narrow in the middle, or takes vectors of the wrong "
            "width. Look at `__init__`."
        ),
        hints=[
            "`__init__` was right as it was given.",
            "Which of the two is the width of x?",
            "`nn.Linear(d_model, d_ff)` first, then `nn.Linear(d_ff, d_model)`.",
        ],
    ),
]
