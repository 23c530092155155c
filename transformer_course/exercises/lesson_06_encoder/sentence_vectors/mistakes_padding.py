"""What goes wrong in a mean of vectors with the padding: which vectors are added up."""

import torch
from torch import Tensor

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_06_encoder.sentence_vectors.answer import STEPS


def _leading(real: Tensor) -> Tensor:
    """Return a mask of as many first tokens as there are real ones."""
    return torch.arange(real.shape[1]) < real.sum(dim=1, keepdim=True)


def _overwritten(x: Tensor, real: Tensor) -> Tensor:
    x[~real] = 0.0
    return x


MISTAKES = [
    Mistake(
        "padding_added_too",
        STEPS.but(without_padding=lambda x: x),
        does="the vectors of the padding are added up, too",
    ),
    Mistake(
        "mean_of_the_padding",
        STEPS.but(real=lambda tokens, pad_id: tokens == pad_id),
        does="the padding is taken for the real tokens, and those for padding",
    ),
    Mistake(
        "sum_of_the_padding",
        STEPS.but(
            real=lambda tokens, pad_id: tokens == pad_id,
            count=lambda tokens, pad_id: (tokens != pad_id).sum(dim=1, keepdim=True),
        ),
        does="the vectors of the padding are added up, and not those of the real tokens",
    ),
    Mistake(
        "zero_is_padding_too",
        STEPS.but(real=lambda tokens, pad_id: (tokens != pad_id) & (tokens != 0)),
        does="token 0 is taken for padding, too",
        says="{does}, also where `pad_id` is another one. Look at the comparison.",
        hints=["Which case has another `pad_id` than 0?"],
    ),
    Mistake(
        "padding_is_the_smallest",
        STEPS.but(real=lambda tokens, pad_id: tokens > pad_id),
        does="only tokens above `pad_id` are taken for real",
        says="{does}: those below it count as padding. Look at the comparison.",
        hints=["In the cases with a `pad_id` other than 0, which tokens are left out?"],
    ),
    Mistake(
        "padding_is_the_largest",
        STEPS.but(real=lambda tokens, pad_id: tokens < pad_id),
        does="only tokens below `pad_id` are taken for real",
        says="{does}: those above it count as padding. Look at the comparison.",
        hints=["In the first case `pad_id` is 0. Which tokens are below it?"],
    ),
    Mistake(
        "padding_only_behind",
        STEPS.but(real=lambda real: _leading(real)),
        does="the first vectors are averaged, as many as there are real tokens",
        says=(
            "Right as long as all padding stands behind the sentence: {does}. Where padding stands in front, it is "
            "taken for them."
        ),
        hints=["In a sentence with padding in front, which vectors are averaged?"],
    ),
    Mistake(
        "ends_at_the_first_padding",
        STEPS.but(real=lambda real: real.long().cumprod(dim=1).bool()),
        does="a sentence is taken to end at its first padding",
        says=(
            "Right as long as all padding stands behind the sentence: it is taken to end at the first padding. Where "
            "padding stands in front, nothing is left of the sentence."
        ),
        hints=["In a sentence with padding in front, which vectors are averaged?"],
    ),
    Mistake(
        "mask_without_an_axis",
        STEPS.but(column=lambda real: real),
        STEPS.but(column=lambda real: real.unsqueeze(1)),
        does="the mask has no axis of length 1 for the features",
    ),
    Mistake(
        "all_sentences_in_one",
        STEPS.but(mean=lambda x, real: x[real].mean(dim=0)),
        STEPS.but(total=lambda x, real: x[real].sum(dim=0)),
        STEPS.but(mean=lambda x, real: x[real].mean(dim=0).expand(len(x), -1)).attempt,
        does="the real tokens of all sentences are thrown together",
        says="{does}: picking vectors by a mask of shape (batch, n) forgets which sentence each belongs to.",
        hints=["Which shape has `x[real]`, and which shape is asked for?"],
    ),
    Mistake(
        "a_token_left_out",
        STEPS.but(x=lambda x: x[:, 1:], tokens=lambda tokens: tokens[:, 1:]),
        STEPS.but(x=lambda x: x[:, :-1], tokens=lambda tokens: tokens[:, :-1]),
        STEPS.but(without_padding=lambda without_padding: without_padding[:, 1:]),
        STEPS.but(without_padding=lambda without_padding: without_padding[:, :-1]).attempt,
        does="the first or the last token of each sentence is left out",
        hints=["Which tokens does the mean of a sentence without padding run over?"],
    ),
    Mistake(
        "erased_in_place",
        STEPS.but(without_padding=lambda x, real: _overwritten(x, real)),
        does="the vectors of the padding are overwritten in x itself",
    ),
]
