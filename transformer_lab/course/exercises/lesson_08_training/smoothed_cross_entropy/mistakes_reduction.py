"""What goes wrong when the losses of tokens are put together."""

import torch
from torch import nn

from transformer_lab.course.exercise import Mistake


def losses(logits, targets, smoothing):
    """The loss of every token, padding included."""
    tokens = logits.flatten(0, 1), targets.flatten()
    return nn.functional.cross_entropy(*tokens, label_smoothing=smoothing, reduction="none").view(targets.shape)


def counts_the_padding(logits, targets, pad_id, smoothing):
    return losses(logits, targets, smoothing).mean()


def divides_by_all_positions(logits, targets, pad_id, smoothing):
    return (losses(logits, targets, smoothing) * (targets != pad_id)).mean()


def adds_up(logits, targets, pad_id, smoothing):
    return losses(logits, targets, smoothing)[targets != pad_id].sum()


def divides_by_the_sentences(logits, targets, pad_id, smoothing):
    return losses(logits, targets, smoothing)[targets != pad_id].sum() / len(targets)


def a_mean_for_each_sentence_first(logits, targets, pad_id, smoothing):
    real = targets != pad_id
    return ((losses(logits, targets, smoothing) * real).sum(dim=1) / real.sum(dim=1)).mean()


def divides_by_the_vocabulary_too(logits, targets, pad_id, smoothing):
    return losses(logits, targets, smoothing)[targets != pad_id].mean() / logits.shape[-1]


def padding_only(logits, targets, pad_id, smoothing):
    return losses(logits, targets, smoothing)[targets == pad_id].mean()


def padding_is_always_zero(logits, targets, pad_id, smoothing):
    return losses(logits, targets, smoothing)[targets != 0].mean()


def padding_is_what_torch_ignores(logits, targets, pad_id, smoothing):
    return losses(logits, targets, smoothing)[targets != -100].mean()


def a_loss_for_each_token(logits, targets, pad_id, smoothing):
    return losses(logits, targets, smoothing) * (targets != pad_id)


def a_loss_for_each_token_in_one_list(logits, targets, pad_id, smoothing):
    return (losses(logits, targets, smoothing) * (targets != pad_id)).flatten()


def shifts_once_more(logits, targets, pad_id, smoothing):
    return losses(logits[:, :-1], targets[:, 1:], smoothing)[targets[:, 1:] != pad_id].mean()


def classes_on_the_wrong_axis(logits, targets, pad_id, smoothing):
    return nn.functional.cross_entropy(logits, targets, ignore_index=pad_id, label_smoothing=smoothing)


def flattens_the_logits_only(logits, targets, pad_id, smoothing):
    return nn.functional.cross_entropy(logits.flatten(0, 1), targets, ignore_index=pad_id, label_smoothing=smoothing)


def an_axis_too_many(logits, targets, pad_id, smoothing):
    log_p = logits.log_softmax(-1)
    right = log_p.gather(-1, targets[..., None])
    return (-(1 - smoothing) * right - smoothing * log_p.mean(-1))[targets != pad_id].mean()


def reshaped_instead_of_transposed(logits, targets, pad_id, smoothing):
    batch, n, vocab_size = logits.shape
    return nn.functional.cross_entropy(
        logits.reshape(batch, vocab_size, n), targets, ignore_index=pad_id, label_smoothing=smoothing
    )


def without_the_gradient(logits, targets, pad_id, smoothing):
    return torch.tensor(losses(logits, targets, smoothing)[targets != pad_id].mean().item())


def a_plain_number(logits, targets, pad_id, smoothing):
    return losses(logits, targets, smoothing)[targets != pad_id].mean().item()


MISTAKES = [
    Mistake(
        "counts_the_padding",
        [counts_the_padding, padding_is_what_torch_ignores],
        says=(
            "Padding is counted: the model is asked to write it, and the loss depends on how much of it a batch happens "
            "to have."
        ),
        hints=[
            "Append a column of padding to the targets. Should the loss change?",
            "Where `targets` is `pad_id`, nothing is asked of the model.",
            "Take the mean of `losses[targets != pad_id]`, or give `ignore_index` to torch's function.",
        ],
    ),
    Mistake(
        "divides_by_all_positions",
        [divides_by_all_positions],
        says=(
            "The losses of padding are left out, but its places are still counted in the mean: the more padding, the "
            "smaller the loss."
        ),
        hints=[
            "By which number is the sum divided: by all positions, or by the real tokens?",
            "A zero counts in a mean, too.",
            "Select before taking the mean: `losses[targets != pad_id].mean()`.",
        ],
    ),
    Mistake(
        "adds_up",
        [adds_up],
        says="This is the sum over the real tokens. Large batches get a large loss, and large gradients.",
        hints=[
            "By which number should the sum be divided?",
            "The mean over the real tokens is asked for.",
            '`.mean()` instead of `.sum()`, or `reduction="mean"`.',
        ],
    ),
    Mistake(
        "divides_by_the_sentences",
        [divides_by_the_sentences],
        says="The sum is divided by the number of sentences. Tokens are what the mean is taken over.",
        hints=[
            "Does the loss depend on how long the sentences are, even if every token is guessed equally well?",
            "How many real tokens are there?",
            "`losses[targets != pad_id].mean()`.",
        ],
    ),
    Mistake(
        "a_mean_for_each_sentence_first",
        [a_mean_for_each_sentence_first],
        says=(
            "Each sentence is averaged first, and then the sentences: a token of a short sentence counts more than one of "
            "a long sentence."
        ),
        hints=[
            "A sentence of 1 token and one of 9: how much does each of the ten tokens count?",
            "All real tokens of the batch should count the same.",
            "One mean over all of them: `losses[targets != pad_id].mean()`.",
        ],
    ),
    Mistake(
        "divides_by_the_vocabulary_too",
        [divides_by_the_vocabulary_too],
        says=(
            "The mean runs over the vocabulary as well as over the tokens: the larger the vocabulary, the smaller the "
            "loss. Within one token, the shares are added up."
        ),
        hints=[
            "How many numbers are averaged: as many as there are real tokens, or V times as many?",
            "The shares of a target add up to 1, so they make a mean by themselves.",
            "First `.sum(dim=-1)`, then the mean over the real tokens.",
        ],
    ),
    Mistake(
        "padding_only",
        [padding_only],
        says="Only the padding is counted. The mask is turned round.",
        hints=[
            "For which tokens is `targets == pad_id` True?",
            "The real tokens are all the others.",
            "`targets != pad_id`.",
        ],
    ),
    Mistake(
        "padding_is_always_zero",
        [padding_is_always_zero],
        says="Token 0 is taken for padding. Which token it is, is an argument.",
        hints=[
            "In one case the padding is token 2, and token 0 a real one.",
            "With which number are the targets compared?",
            "`targets != pad_id`.",
        ],
    ),
    Mistake(
        "a_loss_for_each_token",
        [a_loss_for_each_token, a_loss_for_each_token_in_one_list],
        says="There is a loss for each position. One number is asked for: their mean over the real tokens.",
        hints=[
            "What shape is asked for?",
            "The zeros of the padding must not count in the mean.",
            "`losses[targets != pad_id].mean()`.",
        ],
    ),
    Mistake(
        "shifts_once_more",
        [shifts_once_more],
        says=(
            "The targets are shifted here once more. They come in shifted: `targets[:, t]` is what the logits at t should "
            "say. Shifted twice, the model learns to skip every other token."
        ),
        hints=[
            "The training loop gives `batch.target[:, 1:]` as targets. What would be left of it after a second shift?",
            "Logits and targets have the same length, and belong together place by place.",
            "No slices in here.",
        ],
    ),
    Mistake(
        "classes_on_the_wrong_axis",
        [classes_on_the_wrong_axis],
        says=(
            "torch's function takes the second axis for the vocabulary, and here that is the position. It crashes, or, "
            "where the two happen to fit, compares the wrong numbers."
        ),
        hints=[
            "In which order does `nn.functional.cross_entropy` want the axes? Its help says (N, C) or (N, C, d1).",
            "Either all tokens in one long list, or the vocabulary as the second axis.",
            "`logits.flatten(0, 1)` and `targets.flatten()`, or `logits.transpose(1, 2)`.",
        ],
    ),
    Mistake(
        "flattens_the_logits_only",
        [flattens_the_logits_only],
        says=(
            "The logits are one long list of tokens, and the targets still are a table. torch's function wants both in the "
            "same form."
        ),
        hints=[
            "Which shapes do the two arguments have?",
            "With logits of shape (tokens, vocab_size), targets have the shape (tokens).",
            "`targets.flatten()`.",
        ],
    ),
    Mistake(
        "an_axis_too_many",
        [an_axis_too_many],
        says=(
            "What `gather` gives has an axis of length 1 at its end. Added to one number for each token it crashes, or "
            "pairs every token with every other."
        ),
        hints=[
            "Print the shapes of the two terms. Both should be (batch, n).",
            "`gather` gives the shape of its index, which is (batch, n, 1).",
            "`.squeeze(-1)` behind the `gather`.",
        ],
    ),
    Mistake(
        "reshaped_instead_of_transposed",
        [reshaped_instead_of_transposed],
        says=(
            "The axes of the logits are brought into order by `view` or `reshape`. That draws the lines between the "
            "numbers elsewhere; the numbers of one token do not stay together."
        ),
        hints=[
            "Lesson 03 had the same trap: the right shape, the wrong numbers.",
            "Axes are exchanged by `transpose`.",
            "`logits.transpose(1, 2)`, or `logits.flatten(0, 1)` and `targets.flatten()`.",
        ],
    ),
    Mistake(
        "without_the_gradient",
        [without_the_gradient, a_plain_number],
        says="The number is right, but it is cut off from the logits: no gradient gets back to the model.",
        hints=[
            "What does `.backward()` need?",
            "`.item()`, `.tolist()` and `.detach()` end the path that gradients take.",
            "Return the tensor itself.",
        ],
    ),
]
