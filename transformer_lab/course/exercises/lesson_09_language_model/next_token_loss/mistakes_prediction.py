"""What goes wrong on the way from logits to one loss for each target."""

import math

import torch

from transformer_lab.course.exercise import Mistake
from transformer_lab.course.exercises.lesson_09_language_model.next_token_loss.answer import STEPS

LOG_SOFTMAX = "`torch.log_softmax(…, dim=-1)`."
PICK = "`log_p.gather(-1, targets.unsqueeze(-1)).squeeze(-1)`."


def guarded(tiny):
    """Make the step that adds a tiny number before it takes the logarithm."""
    return STEPS.but(log_probabilities=lambda predictions: (predictions.softmax(-1) + tiny).log())


def vocabulary_on_the_wrong_axis(logits, tokens, pad_id):
    return torch.nn.functional.cross_entropy(logits[:, :-1], tokens[:, 1:], ignore_index=pad_id)


def flattens_the_logits_only(logits, tokens, pad_id):
    return torch.nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:], ignore_index=pad_id)


MISTAKES = [
    Mistake(
        "logits_as_log_probabilities",
        STEPS.but(log_probabilities=lambda predictions: predictions),
        does="the logits are used as if they were log-probabilities",
        says="The logits are taken for log-probabilities. Adding 1 to all of them should change nothing.",
        hints=[
            "What has to hold for probabilities, and does not for e to the power of these numbers?",
            "One step is missing between logits and log-probabilities.",
            LOG_SOFTMAX,
        ],
    ),
    Mistake(
        "softmax_twice",
        STEPS.but(predictions=lambda predictions: predictions.softmax(dim=-1)),
        does="a softmax is taken of the logits, and then another one",
        says=(
            "A softmax is taken twice. After the first, all numbers lie between 0 and 1, and the second makes the "
            "probabilities nearly equal."
        ),
        hints=[
            "What is `log_softmax` of the probabilities 1, 0, 0? It should be 0 at the first.",
            "`log_softmax` and torch's cross-entropy take *logits*.",
            "Leave the first softmax out.",
        ],
    ),
    Mistake(
        "no_logarithm",
        STEPS.but(log_probabilities=lambda predictions: predictions.softmax(dim=-1)),
        does="no logarithm is taken of the probabilities",
        says="The loss is made of probabilities, not of their logarithms: it never exceeds 1, however wrong the model.",
        hints=[
            "What should the loss be if the model gives the next token a probability of 0.01?",
            "The loss of a token is −log p, not −p.",
            LOG_SOFTMAX,
        ],
    ),
    Mistake(
        "softmax_over_another_axis",
        STEPS.but(vocabulary_axis=lambda: 1),
        STEPS.but(vocabulary_axis=lambda: 0),
        does="the softmax runs over positions or texts, not over the vocabulary",
        says=(
            "The probabilities add up to 1 over the positions, or over the texts. Those of the tokens of the "
            "*vocabulary* should, at each position."
        ),
        hints=[
            "Which axis of the logits is the vocabulary?",
            "Which axes are `dim=0` and `dim=1`?",
            "`dim=-1`.",
        ],
    ),
    Mistake(
        "softmax_over_everything",
        STEPS.but(log_probabilities=lambda predictions: predictions.flatten().log_softmax(0).view_as(predictions)),
        STEPS.but(log_probabilities=lambda predictions: predictions.flatten(1).log_softmax(1).view_as(predictions)),
        does="one softmax runs over several positions at once",
        says=(
            "The probabilities of several positions together add up to 1. Those of *each* position should, over the "
            "vocabulary."
        ),
        hints=[
            "Add up the probabilities at one position. What comes out?",
            "Which axis of the logits is the vocabulary?",
            LOG_SOFTMAX,
        ],
    ),
    Mistake(
        "log_of_the_softmax",
        STEPS.but(log_probabilities=lambda predictions: predictions.softmax(-1).log()),
        guarded(1e-9),
        *[guarded(tiny).attempt for tiny in (1e-7, 1e-8, 1e-10, 1e-12)],
        does="the logarithm is taken of a softmax, in which far-apart logits have left a 0",
        says=(
            "For logits that lie far apart, the probability becomes 0 before its logarithm is taken, and the loss "
            "becomes infinite, or is cut off."
        ),
        hints=[
            "In a new cell: `torch.tensor([0.0, 200.0]).softmax(-1).log()`.",
            "The logarithm of e^(−200) is −200. Which function never forms e^(−200)?",
            LOG_SOFTMAX,
        ],
    ),
    Mistake(
        "exponentials_overflow",
        STEPS.but(log_probabilities=lambda predictions: predictions - predictions.exp().sum(-1, keepdim=True).log()),
        STEPS.but(
            log_probabilities=lambda predictions: (predictions.exp() / predictions.exp().sum(-1, keepdim=True)).log()
        ),
        does="`exp` is taken of the logits as they are, which overflows where they are large",
        says="`exp` is taken of the logits as they are. From 89 on it is infinite, and the loss is infinite or nan.",
        hints=[
            "What is `torch.tensor(1000.0).exp()`?",
            "There is a function that takes the logarithm of a softmax without forming any large number.",
            LOG_SOFTMAX,
        ],
    ),
    Mistake(
        "another_base",
        STEPS.but(losses=lambda losses: losses / math.log(2)),
        STEPS.but(losses=lambda losses: losses / math.log(10)),
        does="the logarithm has another base than e",
        says="Every loss is too large or too small by the same factor: {does}.",
        hints=[
            "By which factor is the loss wrong? Is it the same in every case?",
            "`log2` and `log10` have other bases. The loss is in nats.",
            "`torch.log_softmax(…, dim=-1)`, and no division by `math.log(…)`.",
        ],
    ),
    Mistake(
        "forgets_the_minus",
        STEPS.but(losses=lambda of_targets: of_targets),
        does="the minus of −log p is missing",
        says="The sign is turned round: the better the model, the larger this loss. Training would make it worse.",
        hints=[
            "A log-probability is never above 0. Should a loss be below it?",
            "The loss of a token is −log p.",
            "A minus.",
        ],
    ),
    Mistake(
        "the_likeliest_token",
        STEPS.but(of_targets=lambda log_probabilities: log_probabilities.amax(dim=-1)),
        does="the likeliest token is taken at each position, not the target",
        says="At each position the *likeliest* token is taken, not the target: the loss never shows that a model errs.",
        hints=[
            "What part do the targets play, other than to say what is padding?",
            "`gather` picks the log-probability of a given token at each position.",
            PICK,
        ],
    ),
    Mistake(
        "all_tokens_of_the_vocabulary",
        STEPS.but(of_targets=lambda log_probabilities: log_probabilities.sum(dim=-1)),
        STEPS.but(of_targets=lambda log_probabilities: log_probabilities.mean(dim=-1)),
        does="the log-probabilities of all tokens are put together, not that of the target",
        says="At each position the log-probabilities of the *whole vocabulary* count. Only that of the target should.",
        hints=[
            "Does the loss change if another token follows?",
            "`gather` picks the log-probability of a given token at each position.",
            PICK,
        ],
    ),
    Mistake(
        "an_axis_too_many",
        STEPS.but(
            of_targets=lambda log_probabilities, targets: log_probabilities.gather(-1, targets.unsqueeze(-1)),
            total=lambda losses, real: (losses * real).sum(),
        ),
        does="what `gather` returns keeps its last axis, of length 1",
        says=(
            "What `gather` returns has an axis of length 1 at its end. Beside a mask of shape (batch, n − 1), every "
            "position meets every other one."
        ),
        hints=[
            "Print the shapes of the losses and of the mask. Both should be (batch, n − 1).",
            "`gather` returns the shape of its index, which is (batch, n − 1, 1).",
            "`.squeeze(-1)` after the `gather`.",
        ],
    ),
    Mistake(
        "gathers_with_too_few_axes",
        STEPS.but(of_targets=lambda log_probabilities, targets: log_probabilities.gather(-1, targets)),
        does="the index of `gather` has two axes, and what it picks from has three",
        says="`gather` wants an index with as many axes as the logits have: three. The targets have two: it crashes.",
        hints=[
            "Which shape have the targets, and which have the log-probabilities?",
            "At each position one token is picked: the index is (batch, n − 1, 1).",
            "`targets.unsqueeze(-1)`, and `.squeeze(-1)` after the `gather`.",
        ],
    ),
    Mistake(
        "picks_along_another_axis",
        STEPS.but(
            of_targets=lambda log_probabilities, targets: log_probabilities.gather(1, targets.unsqueeze(-1)).squeeze(-1)
        ),
        STEPS.but(of_targets=lambda log_probabilities, targets: log_probabilities[..., targets]),
        STEPS.but(of_targets=lambda log_probabilities, targets: log_probabilities[:, targets]).attempt,
        STEPS.but(of_targets=lambda log_probabilities, targets: log_probabilities[targets]).attempt,
        does="the targets pick more, or other, entries than one token of the vocabulary for each position",
        says=(
            "The targets do not pick one token at each position: in square brackets they pick all targets everywhere, "
            "and with `dim=1` they are taken for positions."
        ),
        hints=[
            "Print the shape of what is picked. It should be (batch, n − 1).",
            "`gather` goes through all positions, and takes from each the entry that its index names.",
            PICK,
        ],
    ),
    Mistake(
        "reshaped_instead_of_transposed",
        STEPS.but(
            predictions=lambda predictions: predictions.reshape(
                len(predictions), predictions.shape[2], predictions.shape[1]
            ).transpose(1, 2)
        ),
        does="the axes of the logits are exchanged by `reshape` or `view`, which mixes positions and vocabulary",
        says=(
            "`view` or `reshape` brings the axes of the logits into the order that torch wants. That mixes positions "
            "and vocabulary: the numbers of one position do not stay together."
        ),
        hints=[
            "Lesson 03 had the same trap: the right shape, the wrong numbers.",
            "Axes are exchanged by `transpose`.",
            "`.transpose(1, 2)`, or `.flatten(0, 1)` and `.flatten()` for the targets.",
        ],
    ),
    Mistake(
        "vocabulary_on_the_wrong_axis",
        vocabulary_on_the_wrong_axis,
        says=(
            "torch's function takes the second axis for the vocabulary, and here that is the positions. It crashes, "
            "or, where the two happen to fit, compares the wrong numbers."
        ),
        hints=[
            "In which order does `nn.functional.cross_entropy` want the axes? Its help says (N, C) or (N, C, d1).",
            "Either all tokens in one long list, or the vocabulary as the second axis.",
            "`.flatten(0, 1)` for the logits and `.flatten()` for the targets, or `.transpose(1, 2)` for the logits.",
        ],
    ),
    Mistake(
        "flattens_the_logits_only",
        flattens_the_logits_only,
        says=(
            "The logits are one long list of tokens, and the targets still are a table. torch's function wants both in "
            "the same form."
        ),
        hints=[
            "Which shapes do the two arguments have?",
            "With logits of shape (tokens, vocab_size), targets have the shape (tokens).",
            "`.flatten()` for the targets.",
        ],
    ),
]
