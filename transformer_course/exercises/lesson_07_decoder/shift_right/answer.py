"""The answer to ``shift_right``, plainly and in steps."""

import torch
from jaxtyping import Int
from torch import Tensor

from transformer_course.steps import InSteps


def shift_right(tokens: Int[Tensor, "batch n"], bos_id: int) -> Int[Tensor, "batch n"]:
    """Put ``bos_id`` in front of every row and drop its last token: the decoder's input, made from its labels."""
    begin = torch.full_like(tokens[:, :1], bos_id)
    return torch.cat([begin, tokens[:, :-1]], dim=1)


def begin(tokens, bos_id):
    """make a column of bos, one for each row

    a column of bos, (batch, 1)
    """
    return torch.full((tokens.shape[0], 1), bos_id)


def rest(tokens):
    """drop the last token of each row

    the tokens of each row but the last, (batch, n − 1)
    """
    return tokens[:, :-1]


def shifted(begin, rest):
    """put the column in front

    the decoder's input: bos, and all tokens but the last
    """
    return torch.cat([begin, rest], dim=1)


STEPS = InSteps(begin, rest, shifted, reference=shift_right)
