"""The answer to ``exact_reward``, plainly and in steps."""

from jaxtyping import Float, Int
from torch import Tensor

from transformer_course.steps import InSteps


def exact_reward(answers: Int[Tensor, "batch n"], accepted: Int[Tensor, "batch n_forms n"]) -> Float[Tensor, " batch"]:
    """Return 1 for each answer that is one of the accepted ones from its first token to its last, and 0 for others."""
    same = answers[:, None] == accepted  # (batch, n_forms, n)
    return same.all(dim=-1).any(dim=-1).float()


def beside(answers):
    """give the answers an axis for the accepted forms

    the answers with an axis for the forms, (batch, 1, n)
    """
    return answers[:, None]


def same(beside, accepted):
    """compare each token with that of every accepted form

    the matches of an answer's tokens with those of a form, (batch, n_forms, n)
    """
    return beside == accepted


def whole(same):
    """ask whether all tokens of a form are the same

    which forms an answer has from end to end, (batch, n_forms)
    """
    return same.all(dim=-1)


def right(whole):
    """ask whether any form is

    which answers are right, (batch,)
    """
    return whole.any(dim=-1)


def rewards(right):
    """make numbers of it

    the rewards: 1 for right and 0 for wrong, (batch,)
    """
    return right.float()


STEPS = InSteps(beside, same, whole, right, rewards, reference=exact_reward)
