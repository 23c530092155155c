"""The answer to ``answer_labels``, plainly and in steps."""

import torch
from jaxtyping import Int
from torch import Tensor

from transformer_course.steps import InSteps


def answer_labels(
    tokens: Int[Tensor, "batch n"], prompt_lengths: Int[Tensor, " batch"], pad_id: int
) -> Int[Tensor, "batch n"]:
    """Return the tokens, with padding in place of the prompt of each row."""
    positions = torch.arange(tokens.shape[1])
    in_prompt = positions < prompt_lengths[:, None]
    return tokens.masked_fill(in_prompt, pad_id)


def positions(tokens):
    """count the positions of a row

    the positions of a row: 0 to n − 1
    """
    return torch.arange(tokens.shape[1])


def ends(prompt_lengths):
    """stand the lengths of the prompts in a column

    the length of each row's prompt, (batch, 1)
    """
    return prompt_lengths[:, None]


def in_prompt(positions, ends):
    """mark the positions before the end of the prompt

    the mask of the prompts: positions below the prompt's length, (batch, n)
    """
    return positions < ends


def labels(tokens, in_prompt, pad_id):
    """put padding there

    the labels: the tokens, with padding in place of the prompts, (batch, n)
    """
    return tokens.masked_fill(in_prompt, pad_id)


STEPS = InSteps(positions, ends, in_prompt, labels, reference=answer_labels)
