"""What goes wrong in a mean of vectors: with the sum, and with what it is divided by."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_06_encoder.sentence_vectors.answer import STEPS
from transformer_course.exercises.shared.final_result_mistakes import of_the_result

SUM = [
    Mistake(
        "features_added_up",
        STEPS.but(total=lambda without_padding: without_padding.sum(dim=-1)),
        STEPS.but(mean=lambda without_padding: without_padding.mean(dim=-1)),
        STEPS.but(mean=lambda without_padding: without_padding.sum(dim=-1)),
        does="the features of each token are added up or averaged",
        says="{does}. It should be the tokens of each sentence. Look at the axis.",
        hints=["Which axis of x should be gone in the result?"],
    ),
    Mistake(
        "sentences_added_up",
        STEPS.but(total=lambda without_padding: without_padding.sum(dim=0)),
        STEPS.but(mean=lambda without_padding: without_padding.mean(dim=0)),
        STEPS.but(
            total=lambda without_padding: without_padding.sum(dim=0),
            count=lambda real: real.sum(dim=0).unsqueeze(-1),
        ),
        does="the sum runs over the sentences of the batch",
        says="{does}: tokens in the same place of all sentences are mixed. Look at the axis.",
        hints=["Which axis of x should be gone in the result?"],
    ),
    Mistake(
        "axis_kept",
        STEPS.but(mean=lambda mean: mean.unsqueeze(1)),
        STEPS.but(total=lambda total: total.unsqueeze(1)),
        does="the axis of the tokens is kept, with length 1",
        says="The axis of the tokens is left over, with length 1.",
        hints=["Which shape is asked for?"],
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
    Mistake(
        "largest_numbers",
        STEPS.but(mean=lambda x, column: x.masked_fill(~column, -torch.inf).amax(dim=1)),
        STEPS.but(mean=lambda without_padding: without_padding.amax(dim=1)),
        STEPS.but(mean=lambda x: x.amax(dim=1)),
        does="the largest number of each feature is taken",
        says="{does}. That is used as well; here the mean is asked for.",
        hints=["For the features 1 and 3 of two tokens, what should come out?"],
    ),
]

DIVISOR = [
    Mistake(
        "sum_of_the_tokens",
        STEPS.but(mean=lambda total: total),
        does="the sum is not divided",
    ),
    Mistake(
        "divided_by_the_length",
        STEPS.but(count=lambda tokens: torch.tensor(tokens.shape[1])),
        does="the sum is divided by the number of all tokens of a sentence, padding included",
        says="{does}: with padding, vectors come out too short. Look at the divisor.",
        hints=["How many real tokens has the sentence of the first case?"],
    ),
    Mistake(
        "divided_twice",
        STEPS.but(total=lambda without_padding: without_padding.mean(dim=1)),
        does="the sum is divided by the length of the sentence",
    ),
    Mistake(
        "divided_by_all_tokens_of_the_batch",
        STEPS.but(count=lambda real: real.sum()),
        does="the real tokens of the whole batch are counted together",
    ),
    Mistake(
        "divided_by_another_size",
        STEPS.but(count=lambda x: torch.tensor(x.shape[2])),
        STEPS.but(count=lambda x: torch.tensor(len(x))),
        STEPS.but(count=lambda real: real.sum(dim=0)),
        STEPS.but(count=lambda real: real.sum(dim=0).unsqueeze(-1)),
        STEPS.but(count=lambda tokens, pad_id: (tokens == pad_id).sum(dim=1, keepdim=True)),
        does="the divisor counts something other than the real tokens of a sentence",
        hints=["How many real tokens has each sentence?"],
    ),
    Mistake(
        "one_off",
        STEPS.but(divisor=lambda count: count + 1),
        STEPS.but(count=lambda count: count - 1),
        does="the divisor is one off: 1 is added to the number of real tokens, or subtracted",
    ),
    Mistake(
        "divided_by_the_root",
        STEPS.but(count=lambda count: count.float().sqrt()),
        does="the sum is divided by the root of the number of real tokens",
        says="{does}. That keeps the size of sums of independent numbers; here the mean is asked for.",
        hints=["For four equal vectors, what should the result be?"],
    ),
    Mistake(
        "nan_where_nothing_is_real",
        STEPS.but(divisor=lambda count: count),
        STEPS.but(divisor=lambda count: count if count.any() else count + 1).attempt,
        does="nothing is done about a number of 0 tokens",
    ),
    Mistake(
        "zeros_for_any_padding",
        STEPS.but(mean=lambda mean, real: mean * real.all(dim=1, keepdim=True)),
        does="every sentence with padding in it gets zeros",
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
        "count_without_an_axis",
        STEPS.but(count=lambda real: real.sum(dim=1)),
        does="the numbers of real tokens have the shape (batch), without an axis for the features",
    ),
    Mistake(
        "count_with_an_axis_too_many",
        STEPS.but(count=lambda column: column.sum(dim=1, keepdim=True)),
        does="the numbers of real tokens have the shape (batch, 1, 1), with one axis too many",
        says=(
            "The sums have the shape (batch, d_model), but what they are divided by (batch, 1, 1), so that every "
            "sentence is divided by every sentence's number. Look at the axes of the divisor."
        ),
        hints=["Which shape comes out for a batch of two sentences?"],
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
    Mistake(
        "rounded_down",
        STEPS.but(mean=lambda total, divisor: total // divisor),
        does="the division rounds down",
    ),
]

MISTAKES = [
    *SUM,
    *DIVISOR,
    *of_the_result(STEPS, "result_with_another_axis", "function_of_the_result", "only_the_first_result"),
]
