"""The answer to ``greedy_decode``, plainly and in steps: what is decided in each round of the loop is a step, too."""

import torch
from jaxtyping import Int
from torch import Tensor, nn

from transformer_course.steps import InSteps


def greedy_decode(
    model: nn.Module, source: Int[Tensor, "batch n"], bos_id: int, eos_id: int, max_length: int
) -> Int[Tensor, "batch n_written"]:
    """Write the likeliest next token up to max_length times; the bos is not part of the output, the eos is."""
    target = torch.full((len(source), 1), bos_id)
    ended = torch.zeros(len(source), dtype=torch.bool)
    for _ in range(max_length):
        best = model(source, target)[:, -1].argmax(dim=-1)
        best = torch.where(ended, eos_id, best)  # after the end, only the end
        target = torch.cat([target, best[:, None]], dim=1)
        ended = ended | (best == eos_id)
        if ended.all():
            break
    return target[:, 1:]


def start(source, bos_id):
    """begin every sentence with bos

    the target before the first round: a column of bos
    """
    return torch.full((len(source), 1), bos_id)


def shown():
    """show the model all that has been generated

    what the model is shown of the target
    """
    return lambda target: target


def logits(model, source):
    """call the model on the source and on what it is shown

    the logits of every position, (batch, n, vocab_size)
    """
    return lambda shown: model(source, shown)


def next_logits():
    """take the logits of the last position

    the logits of the next token, (batch, vocab_size)
    """
    return lambda logits: logits[:, -1]


def choice():
    """choose the likeliest token of each sentence

    the chosen tokens, (batch,)
    """
    return lambda next_logits: next_logits.argmax(dim=-1)


def tokens(eos_id):
    """replace it by eos where the sentence has ended

    the tokens that are written, (batch,)
    """
    return lambda chosen, ended: torch.where(ended, eos_id, chosen)


def ended(eos_id):
    """remember which sentences have generated eos

    the mask of the sentences that have ended, (batch,)
    """
    return lambda ended, tokens, chosen: ended | (tokens == eos_id)


def target():
    """append the tokens as a column

    the target, one column longer
    """
    return lambda target, tokens: torch.cat([target, tokens[:, None]], dim=1)


def stop():
    """stop when all sentences have ended

    whether the loop stops
    """
    return lambda ended, tokens, target: ended.all()


def n_rounds(max_length):
    """go round at most max_length times

    the number of rounds
    """
    return max_length


def written(source, start, shown, logits, next_logits, choice, tokens, ended, target, stop, n_rounds):
    """repeat

    the target after the last round, with its bos
    """
    so_far, over = start, torch.zeros(len(source), dtype=torch.bool)
    for _ in range(n_rounds):
        chosen = choice(next_logits(logits(shown(so_far))))
        new = tokens(chosen, over)
        over = ended(over, new, chosen)
        so_far = target(so_far, new)
        if stop(over, new, so_far):
            break
    return so_far


def output(written):
    """leave the bos out

    the tokens that were written
    """
    return written[:, 1:]


STEPS = InSteps(
    start,
    shown,
    logits,
    next_logits,
    choice,
    tokens,
    ended,
    target,
    stop,
    n_rounds,
    written,
    output,
    reference=greedy_decode,
)
