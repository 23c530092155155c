"""The answer to ``accept``, plainly and in steps."""

from jaxtyping import Float, Int
from torch import Tensor

from transformer_course.steps import InSteps


def accept(
    p: Float[Tensor, "n_rows vocab_size"],
    q: Float[Tensor, "n_drafted vocab_size"],
    drafted: Int[Tensor, " n_drafted"],
    uniforms: Float[Tensor, " n_drafted"],
) -> tuple[int, Float[Tensor, " vocab_size"]]:
    """Return how many drafted tokens are accepted, and the distribution from which the next token is drawn."""
    ratios = (p[:-1] / q).gather(1, drafted[:, None])[:, 0]
    n_accepted = int((uniforms < ratios).cumprod(dim=0).sum())  # 0 from the first rejection on
    rest = p[-1] if n_accepted == len(q) else (p[n_accepted] - q[n_accepted]).clamp(min=0)
    return n_accepted, rest / rest.sum()


def ratios(p, q, drafted):
    """divide the model's probability of each drafted token by the draft's → the ratios: p / q of each drafted token"""
    return (p[:-1] / q).gather(1, drafted[:, None])[:, 0]


def passed(ratios, uniforms):
    """compare each uniform number with the ratio → the tokens that pass: those with a uniform number below the ratio"""
    return uniforms < ratios


def n_accepted(passed):
    """count the tokens before the first rejection → the number of accepted tokens: all before the first rejection"""
    return int(passed.cumprod(dim=0).sum())


def rest(p, q, n_accepted):
    """subtract q from p in the row of the rejection, and clip at 0 → the rest: max(0, p − q), or p if all passed"""
    return p[n_accepted] if n_accepted == len(q) else (p[n_accepted] - q[n_accepted]).clamp(min=0)


def following(rest):
    """divide the rest by its sum → the distribution of the next token: the rest, divided by its sum"""
    return rest / rest.sum()


def output(n_accepted, following):
    """return the number and the distribution → the number of accepted tokens, and the distribution of the next one"""
    return n_accepted, following


STEPS = InSteps(ratios, passed, n_accepted, rest, following, output, reference=accept)
