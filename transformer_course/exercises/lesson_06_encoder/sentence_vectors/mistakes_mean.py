"""What goes wrong in a mean of vectors: with the sum, and with what it is divided by."""

import torch
from torch.nn import functional as F

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
        hints=[
            "Which axis of x should be gone in the result?",
            "x has the shape (batch, n, d_model). Which of these axes counts the tokens?",
            "Axis 1.",
        ],
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
        hints=[
            "Which axis of x should be gone in the result?",
            "x has the shape (batch, n, d_model). Which of these axes counts the tokens?",
            "Axis 1.",
        ],
    ),
    Mistake(
        "axis_kept",
        STEPS.but(mean=lambda mean: mean.unsqueeze(1)),
        STEPS.but(total=lambda total: total.unsqueeze(1)),
        does="the axis of the tokens is kept, with length 1",
        says="The axis of the tokens is left over, with length 1.",
        hints=[
            "Which shape is asked for?",
            "Which `keepdim` is one too many?",
            "Add up x over `dim=1` without `keepdim`.",
        ],
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
        hints=[
            "Change the second token's vector in a sentence of three. Does anything change?",
            "All real tokens count alike.",
            "Add up over `dim=1`, divide by how many are real.",
        ],
    ),
    Mistake(
        "largest_numbers",
        STEPS.but(mean=lambda x, column: x.masked_fill(~column, -torch.inf).amax(dim=1)),
        STEPS.but(mean=lambda without_padding: without_padding.amax(dim=1)),
        STEPS.but(mean=lambda x: x.amax(dim=1)),
        does="the largest number of each feature is taken",
        says="{does}. That is used as well; here the mean is asked for.",
        hints=[
            "For the features 1 and 3 of two tokens, what should come out?",
            "2, their mean.",
            "Add up over `dim=1`, divide by how many are real.",
        ],
    ),
]

DIVISOR = [
    Mistake(
        "sum_of_the_tokens",
        STEPS.but(mean=lambda total: total),
        does="the sum is not divided",
        says="The vectors are added up, and not divided: long sentences get long vectors.",
        hints=[
            "For three equal vectors, what should the result be?",
            "A mean is a sum divided by a number. By which?",
            "By the number of real tokens of each sentence, and at least 1.",
        ],
    ),
    Mistake(
        "divided_by_the_length",
        STEPS.but(count=lambda tokens: torch.tensor(tokens.shape[1])),
        does="the sum is divided by the number of all tokens of a sentence, padding included",
        says="{does}: with padding, vectors come out too short. Look at the divisor.",
        hints=[
            "How many real tokens has the sentence of the first case?",
            "`.mean(dim=1)` divides by the length of that axis, whatever stands there.",
            "`(tokens != pad_id).sum(dim=1, keepdim=True)`, and at least 1.",
        ],
    ),
    Mistake(
        "divided_twice",
        STEPS.but(total=lambda without_padding: without_padding.mean(dim=1)),
        does="the sum is divided by the length of the sentence",
        says="The sum is divided twice: `mean` has divided by the length before the number of real tokens does.",
        hints=[
            "For three equal vectors, what should the result be?",
            "Which functions divide, and how often is that needed?",
            "`sum(dim=1)` in place of `mean(dim=1)`.",
        ],
    ),
    Mistake(
        "divided_by_all_tokens_of_the_batch",
        STEPS.but(count=lambda real: real.sum()),
        does="the real tokens of the whole batch are counted together",
        says=(
            "Each sum is divided by the number of real tokens in the whole batch: with more sentences, vectors get "
            "shorter. Look at the divisor."
        ),
        hints=[
            "How many real tokens has each sentence?",
            "`.sum()` without an axis adds up everything there is.",
            "`(tokens != pad_id).sum(dim=1, keepdim=True)`, and at least 1.",
        ],
    ),
    Mistake(
        "divided_by_another_size",
        STEPS.but(count=lambda x: torch.tensor(x.shape[2])),
        STEPS.but(count=lambda x: torch.tensor(len(x))),
        STEPS.but(count=lambda real: real.sum(dim=0)),
        STEPS.but(count=lambda real: real.sum(dim=0).unsqueeze(-1)),
        STEPS.but(count=lambda tokens, pad_id: (tokens == pad_id).sum(dim=1, keepdim=True)),
        does="the divisor counts something other than the real tokens of a sentence",
        says="{does}. Look at which axis it is counted over.",
        hints=[
            "How many real tokens has each sentence?",
            "The mask of the real tokens has the shape (batch, n). Over which axis is it to be added up?",
            "`(tokens != pad_id).sum(dim=1, keepdim=True)`, and at least 1.",
        ],
    ),
    Mistake(
        "one_off",
        STEPS.but(divisor=lambda count: count + 1),
        STEPS.but(count=lambda count: count - 1),
        does="the divisor is one off: 1 is added to the number of real tokens, or subtracted",
        says="The divisor is one off: 1 is added to the number of real tokens, or subtracted from it.",
        hints=[
            "In the first case, two tokens are real. What is divided by?",
            "Where no token is real, 1 should be divided by; everywhere else the number itself.",
            "`.clamp(min=1)` makes 1 of 0 and leaves larger numbers alone.",
        ],
    ),
    Mistake(
        "divided_by_the_root",
        STEPS.but(count=lambda count: count.float().sqrt()),
        does="the sum is divided by the root of the number of real tokens",
        says="{does}. That keeps the size of sums of independent numbers; here the mean is asked for.",
        hints=[
            "For four equal vectors, what should the result be?",
            "A mean divides by the number itself.",
            "Leave out the root.",
        ],
    ),
    Mistake(
        "nan_where_nothing_is_real",
        STEPS.but(divisor=lambda count: count),
        STEPS.but(divisor=lambda count: count if count.any() else count + 1).attempt,
        does="nothing is done about a number of 0 tokens",
        says="Where a sentence is nothing but padding, 0 is divided by 0. It should get a vector of zeros.",
        hints=[
            "What is the number of real tokens there?",
            "What could be divided by instead, without changing anything for the others?",
            "`.clamp(min=1)` makes 1 of 0 and leaves larger numbers alone.",
        ],
    ),
    Mistake(
        "zeros_for_any_padding",
        STEPS.but(mean=lambda mean, real: mean * real.all(dim=1, keepdim=True)),
        does="every sentence with padding in it gets zeros",
        says="{does}, and not only one that is all padding. Look at the condition for the zeros.",
        hints=[
            "Which sentences get zeros, and which should?",
            "`all` asks whether every token is real, `any` whether one is.",
            "Zeros are for a sentence without any real token.",
        ],
    ),
    Mistake(
        "padding_gets_no_zeros",
        STEPS.but(mean=lambda count, mean: torch.where(count == 0, 1.0, mean)),
        STEPS.but(mean=lambda count, mean, x: torch.where(count == 0, x.mean(dim=1), mean)),
        STEPS.but(mean=lambda count, mean, x: torch.where(count == 0, x[:, 0], mean)),
        does="a sentence of padding alone gets something other than zeros",
        says="A sentence of nothing but padding gets something other than zeros. Look at what becomes of it.",
        hints=[
            "What should come out for a sentence without any real token?",
            "Its sum is 0 already. By what can it be divided and stay so?",
            "`.clamp(min=1)` on the divisor is enough.",
        ],
    ),
    Mistake(
        "count_without_an_axis",
        STEPS.but(count=lambda real: real.sum(dim=1)),
        does="the numbers of real tokens have the shape (batch), without an axis for the features",
        says=(
            "The sums have the shape (batch, d_model), and what they are divided by (batch). Shapes are compared from "
            "the right, so these do not line up: that crashes, or features are divided by numbers of other sentences."
        ),
        hints=[
            "Which shape has the number of real tokens?",
            "(batch, 1) would fit.",
            "`keepdim=True`.",
        ],
    ),
    Mistake(
        "count_with_an_axis_too_many",
        STEPS.but(count=lambda column: column.sum(dim=1, keepdim=True)),
        does="the numbers of real tokens have the shape (batch, 1, 1), with one axis too many",
        says=(
            "The sums have the shape (batch, d_model), but what they are divided by (batch, 1, 1), so that every "
            "sentence is divided by every sentence's number. Look at the axes of the divisor."
        ),
        hints=[
            "Which shape comes out for a batch of two sentences?",
            "A mask of shape (batch, n, 1) has its last axis already.",
            "Count over `dim=1` without `keepdim`.",
        ],
    ),
    Mistake(
        "largest_of_python",
        STEPS.but(divisor=lambda count: max(count, 1)),
        does="a whole tensor is asked whether it is above 1, as by Python's own `max`",
        says=(
            "`max(…, 1)` asks Python which of two things is the larger. For a tensor of several numbers there is no "
            "answer, and it crashes."
        ),
        hints=[
            "What should become of the numbers 3, 0 and 5?",
            "3, 1 and 5: each by itself. torch has a function for it.",
            "`.clamp(min=1)`.",
        ],
    ),
    Mistake(
        "rounded_down",
        STEPS.but(mean=lambda total, divisor: total // divisor),
        does="the division rounds down",
        says="The division rounds down to whole numbers. Look at the operator.",
        hints=[
            "What should be the mean of 1 and 2?",
            "`//` rounds down; `/` does not.",
            "Divide by `/`.",
        ],
    ),
    Mistake(
        "scaled_to_length_1",
        STEPS.but(mean=lambda mean: F.normalize(mean, dim=-1)),
        STEPS.but(mean=lambda mean: mean / mean.norm(dim=-1, keepdim=True)),
        does="the vectors are scaled to length 1",
        says="{does}, as for comparing them by angle. Here the mean itself is asked for.",
        hints=[
            "In the first case, what is the mean of the first feature?",
            "After the division by the number of real tokens, nothing is left to do.",
            "Leave the scaling out.",
        ],
    ),
]

MISTAKES = [
    *SUM,
    *DIVISOR,
    *of_the_result(STEPS, "result_with_another_axis", "function_of_the_result", "only_the_first_result"),
]
