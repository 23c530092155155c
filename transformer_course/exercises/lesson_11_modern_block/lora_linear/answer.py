"""The answer to ``LoRALinear`` in steps; the plain one is the library's."""

from transformer_course.steps import InSteps
from transformer_lab.layers.lora import LoRALinear


def base(self, x):
    """apply the frozen layer to x

    what the frozen layer makes of x
    """
    return self.linear(x)


def first(self):
    """choose `a`

    the first small matrix: `a`
    """
    return self.a


def inner(x, first):
    """multiply x by it, which leaves `rank` numbers

    the `rank` numbers in the middle: x times `a` transposed
    """
    return x @ first.T


def second(self):
    """choose `b`

    the second small matrix: `b`
    """
    return self.b


def change(inner, second):
    """multiply the result by it

    the product: x times `a` transposed times `b` transposed
    """
    return inner @ second.T


def scale(self):
    """divide alpha by the rank

    the scale: alpha / rank
    """
    return self.scale


def scaled(scale, change):
    """multiply the product by that

    the scaled product
    """
    return scale * change


def output(base, scaled):
    """add it to what the frozen layer makes of x

    the output of the frozen layer plus the scaled product
    """
    return base + scaled


STEPS = InSteps(base, first, inner, second, change, scale, scaled, output, reference=LoRALinear)
