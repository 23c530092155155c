"""What goes wrong in a mean of vectors: with the sum, and with what it is divided by."""

import torch
from torch import Tensor

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_06_encoder.sentence_vectors.answer import STEPS


def largest(x: Tensor, column: Tensor) -> Tensor:
    return x.masked_fill(~column, -torch.inf).amax(dim=1)


SUM = [
    Mistake(
        "axis_kept",
        STEPS.but(mean=lambda mean: mean.unsqueeze(1)),
        STEPS.but(total=lambda total: total.unsqueeze(1)),
        does="the axis of the tokens is kept, with length 1",
        says="The axis of the tokens is left over, with length 1.",
        hints=["Which shape is asked for?"],
    ),
    Mistake(
        "largest_not_mean",
        STEPS.but(mean=lambda x, column, count: largest(x, column).masked_fill(count == 0, 0.0)),
        STEPS.but(mean=lambda x, column: largest(x, column)),
        STEPS.but(mean=lambda without_padding: without_padding.amax(dim=1)),
        does="the largest number of each feature is taken, not the mean",
        says="{does}. Some models do so, and call it max pooling; here the mean is asked for.",
        hints=["For the numbers 1, 2 and 6, what is the mean, and what comes out?"],
    ),
    Mistake(
        "first_or_last_vector",
        STEPS.but(mean=lambda x: x[:, 0]),
        STEPS.but(mean=lambda x: x[:, -1]),
        STEPS.but(mean=lambda x, count: x[torch.arange(len(x)), count.squeeze(1) - 1]),
        STEPS.but(mean=lambda x, count: x[:, 0] * (count > 0)).attempt,
        STEPS.but(mean=lambda x, count: x[:, -1] * (count > 0)).attempt,
        STEPS.but(mean=lambda x, count: x[torch.arange(len(x)), count.squeeze(1) - 1] * (count > 0)).attempt,
        does="the vector of a single token is taken, the first or the last one",
        says=(
            "Only the first or the last vector is used. Some models do so, with a token there that stands for the "
            "sentence; here the mean is asked for."
        ),
        hints=["Change the second token's vector in a sentence of three. Does anything change?"],
    ),
]

DIVISOR = [
    Mistake(
        "divided_by_the_length",
        STEPS.but(count=lambda tokens: torch.tensor(tokens.shape[1])),
        does="the sum is divided by the number of all tokens of a sentence, padding included",
        says="{does}: with padding, vectors come out too short. Look at the divisor.",
        hints=["How many real tokens has the sentence of the first case?"],
    ),
    Mistake(
        "nan_where_nothing_is_real",
        STEPS.but(divisor=lambda count: count),
        STEPS.but(divisor=lambda count: count if count.any() else count + 1).attempt,
        does="nothing is done about a number of 0 tokens",
    ),
    Mistake(
        "padding_gets_no_zeros",
        STEPS.but(mean=lambda count, mean: torch.where(count == 0, 1.0, mean)),
        STEPS.but(mean=lambda count, mean, x: torch.where(count == 0, x.mean(dim=1), mean)),
        STEPS.but(mean=lambda count, mean, x: torch.where(count == 0, x[:, 0], mean)),
        does="a sentence of padding alone gets something other than zeros",
        says="A sentence of nothing but padding gets something other than zeros. Look at what becomes of it.",
        hints=["What should come out for a sentence without any real token?"],
    ),
    Mistake(
        "largest_of_python",
        STEPS.but(divisor=lambda count: max(count, 1)),
        does="a whole tensor is asked whether it is above 1, as by Python's own `max`",
        says=(
            "`max(…, 1)` asks Python which of two things is the larger. For a tensor of several numbers there is no "
            "answer, and it crashes."
        ),
        hints=["What should become of the numbers 3, 0 and 5?"],
    ),
]

MISTAKES = [
    *SUM,
    *DIVISOR,
]
