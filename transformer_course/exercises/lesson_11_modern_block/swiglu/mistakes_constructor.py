"""What goes wrong in making three linear layers."""

from torch import nn
from torch.nn import functional as F

from transformer_course.exercise import Mistake
from transformer_lab.layers.feed_forward import SwiGLU


class WithBiases(SwiGLU):
    def __init__(self, d_model, d_ff):
        super().__init__(d_model, d_ff)
        self.w_gate, self.w_up = nn.Linear(d_model, d_ff), nn.Linear(d_model, d_ff)
        self.w_down = nn.Linear(d_ff, d_model)


class OtherNames(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.w1 = nn.Linear(d_model, d_ff, bias=False)
        self.w2 = nn.Linear(d_ff, d_model, bias=False)
        self.w3 = nn.Linear(d_model, d_ff, bias=False)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class GateAndUpInOne(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.w_gate_up = nn.Linear(d_model, 2 * d_ff, bias=False)
        self.w_down = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, x):
        gate, up = self.w_gate_up(x).chunk(2, dim=-1)
        return self.w_down(F.silu(gate) * up)


class SizesSwapped(SwiGLU):
    def __init__(self, d_model, d_ff):
        super().__init__(d_ff, d_model)


AS_GIVEN = "`__init__` was right as it was given."

MISTAKES = [
    Mistake(
        "with_biases",
        WithBiases,
        says="The layers have biases. Llama's have none, and neither have these. Look at `__init__`.",
        hints=[AS_GIVEN, "How many parameters has `nn.Linear(2, 3)`?", "`bias=False`."],
    ),
    Mistake(
        "other_names",
        OtherNames,
        GateAndUpInOne,
        says=(
            "The layers have other names than those asked for, or two of them are one, so no parameters can be loaded "
            "into them. Look at `__init__`."
        ),
        hints=[AS_GIVEN, "Parameters are loaded by name.", "`w_gate`, `w_up` and `w_down`."],
    ),
    Mistake(
        "sizes_swapped",
        SizesSwapped,
        says="The two sizes have changed places: the layers take vectors of the wrong width. Look at `__init__`.",
        hints=[
            AS_GIVEN,
            "Which of the two is the width of x?",
            "`nn.Linear(d_model, d_ff, bias=False)` twice, then `nn.Linear(d_ff, d_model, bias=False)`.",
        ],
    ),
]
