"""The answer to ``padding_difference``, plainly and in steps."""

import torch
from jaxtyping import Int
from torch import Tensor, nn

from transformer_course.exercises.shared.eval_mode_steps import evaluating, was_training
from transformer_course.exercises.shared.largest_difference_steps import answer, largest, sizes
from transformer_course.steps import InSteps


def padding_difference(model: nn.Module, tokens: Int[Tensor, "batch n"], pad_id: int, n_pads: int) -> float:
    """Return by how much the logits at real tokens change at most when every text gets padding on its left."""
    was_training = model.training
    model.eval()
    pads = torch.full((len(tokens), n_pads), pad_id)
    with torch.no_grad():
        alone, padded = model(tokens), model(torch.cat([pads, tokens], dim=1))
    model.train(was_training)
    return (padded[:, n_pads:] - alone)[tokens != pad_id].abs().max().item()


def alone(evaluating, tokens):
    """run it on the tokens as they are

    the logits of the tokens as they are
    """
    return evaluating(tokens)


def shape(tokens, n_pads):
    """make room for the pads of each text

    the shape of the pads: (batch, n_pads)
    """
    return len(tokens), n_pads


def pads(shape, pad_id):
    """fill it with the id of padding

    the pads: the id of padding, n_pads times for each text
    """
    return torch.full(shape, pad_id)


def longer(pads, tokens):
    """put the pads to the left of the tokens

    the longer texts: pads, then tokens
    """
    return torch.cat([pads, tokens], dim=1)


def logits(evaluating, longer):
    """run it on the longer texts

    the logits of the longer texts, (batch, n_pads + n, vocab_size)
    """
    return evaluating(longer)


def padded(logits, n_pads):
    """leave out the logits at the new pads

    the logits of the same tokens in the longer texts, (batch, n, vocab_size)
    """
    return logits[:, n_pads:]


def real(tokens, pad_id):
    """find the real tokens

    which tokens are real: those that are not the padding
    """
    return tokens != pad_id


def all_differences(alone, padded):
    """subtract the logits of one from those of the other

    the differences at every position, (batch, n, vocab_size)
    """
    return padded - alone


def differences(all_differences, real):
    """take those at real tokens

    the differences at real tokens
    """
    return all_differences[real]


STEPS = InSteps(
    was_training, evaluating, alone, shape, pads, longer, logits, padded, real, all_differences, differences, sizes,
    largest, answer, reference=padding_difference
)  # fmt: skip
