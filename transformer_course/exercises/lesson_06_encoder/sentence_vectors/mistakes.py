"""What goes wrong in a mean of vectors: with the padding, with the sum, and with what it is divided by."""

import torch
from torch import Tensor

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_06_encoder.sentence_vectors.answer import STEPS


def _leading(real: Tensor) -> Tensor:
    """Return a mask of as many first tokens as there are real ones."""
    return torch.arange(real.shape[1]) < real.sum(dim=1, keepdim=True)


MISTAKES = [
    Mistake(
        "padding_only_behind",
        STEPS.but(real=lambda real: _leading(real)),
        does="the first vectors are averaged, as many as there are real tokens",
        says="Right as long as all padding stands behind the sentence: {does}.",
        hints=["In a sentence with padding in front, which vectors are averaged?"],
    ),
    Mistake(
        "all_sentences_in_one",
        STEPS.but(mean=lambda x, real: x[real].mean(dim=0)),
        STEPS.but(total=lambda x, real: x[real].sum(dim=0)),
        does="the real tokens of all sentences are thrown together",
        says="{does}: picking vectors by a mask of shape (batch, n) forgets which sentence each belongs to.",
        hints=["Which shape has `x[real]`, and which shape is asked for?"],
    ),
    Mistake(
        "largest_not_mean",
        STEPS.but(mean=lambda x, column: x.masked_fill(~column, -torch.inf).amax(dim=1)),
        STEPS.but(mean=lambda without_padding: without_padding.amax(dim=1)),
        does="the largest number of each feature is taken, not the mean",
        says="{does}. Some models do so, and call it max pooling; here the mean is asked for.",
    ),
    Mistake(
        "first_or_last_vector",
        STEPS.but(mean=lambda x: x[:, 0]),
        STEPS.but(mean=lambda x: x[:, -1]),
        does="the vector of a single token is taken, the first or the last one",
        says="{does}. Some models do so, with a token there that stands for the sentence; here the mean is asked for.",
    ),
    Mistake(
        "divided_by_the_length",
        STEPS.but(count=lambda tokens: torch.tensor(tokens.shape[1])),
        does="the sum is divided by the number of all tokens of a sentence, padding included",
        says="{does}: with padding, vectors come out too short. Look at the divisor.",
        hints=["How many real tokens has the sentence of the first case?"],
    ),
]
