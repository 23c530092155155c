"""The answer to ``SwiGLU`` in steps; the plain one is the library's."""

from torch.nn import functional as F

from transformer_course.steps import InSteps
from transformer_lab.layers.feed_forward import SwiGLU


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
