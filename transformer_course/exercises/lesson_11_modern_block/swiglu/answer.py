"""The answer to ``SwiGLU``, plainly and in steps."""

from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from transformer_course.steps import InSteps


class SwiGLU(nn.Module):
    """A feed-forward network in which one projection decides how much of another passes."""

    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.w_gate = nn.Linear(d_model, d_ff, bias=False)
        self.w_up = nn.Linear(d_model, d_ff, bias=False)
        self.w_down = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, x: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch d_model"]:
        return self.w_down(F.silu(self.w_gate(x)) * self.w_up(x))


def gate(self, x):
    """apply `w_gate` to x

    what `w_gate` makes of x
    """
    return self.w_gate(x)


def opened(gate):
    """apply SiLU to it

    the gates: what `w_gate` makes of x, after SiLU
    """
    return F.silu(gate)


def up(self, x):
    """apply `w_up` to x

    what `w_up` makes of x
    """
    return self.w_up(x)


def gated(opened, up):
    """multiply the two, number by number

    the gated features: the gates times what `w_up` makes of x
    """
    return opened * up


def output(self, gated):
    """apply `w_down` to the product

    the output of `w_down`
    """
    return self.w_down(gated)


STEPS = InSteps(gate, opened, up, gated, output, reference=SwiGLU)
