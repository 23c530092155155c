"""What goes wrong when the vectors of a sentence are averaged."""

import torch

from transformer_lab.course.exercise import Mistake


def _weighted(x, real, count):
    return (x * real.unsqueeze(-1)).sum(dim=1) / count


def padding_averaged_too(x, tokens, pad_id):
    return x.mean(dim=1)


def divided_by_the_length(x, tokens, pad_id):
    return _weighted(x, tokens != pad_id, tokens.shape[1])


def padding_added_too(x, tokens, pad_id):
    return x.sum(dim=1) / (tokens != pad_id).sum(dim=1, keepdim=True).clamp(min=1)


def padding_only_behind(x, tokens, pad_id):
    counts = (tokens != pad_id).sum(dim=1).tolist()
    return torch.stack([x[i, :n].sum(dim=0) / max(n, 1) for i, n in enumerate(counts)])


def padding_only_behind_and_nan(x, tokens, pad_id):
    counts = (tokens != pad_id).sum(dim=1).tolist()
    return torch.stack([x[i, :n].mean(dim=0) for i, n in enumerate(counts)])


def divided_by_the_size_of_the_batch(x, tokens, pad_id):
    return _weighted(x, tokens != pad_id, len(tokens))


def divided_by_the_width(x, tokens, pad_id):
    return _weighted(x, tokens != pad_id, x.shape[2])


def sum_of_the_tokens(x, tokens, pad_id):
    return _weighted(x, tokens != pad_id, 1)


def divided_by_all_tokens_of_the_batch(x, tokens, pad_id):
    return _weighted(x, tokens != pad_id, (tokens != pad_id).sum())


def mean_of_the_padding(x, tokens, pad_id):
    pads = tokens == pad_id
    return _weighted(x, pads, pads.sum(dim=1, keepdim=True).clamp(min=1))


def mean_of_the_padding_and_nan(x, tokens, pad_id):
    pads = tokens == pad_id
    return _weighted(x, pads, pads.sum(dim=1, keepdim=True))


def padding_is_always_zero(x, tokens, pad_id):
    real = tokens != 0
    return _weighted(x, real, real.sum(dim=1, keepdim=True).clamp(min=1))


def nan_where_nothing_is_real(x, tokens, pad_id):
    real = tokens != pad_id
    return _weighted(x, real, real.sum(dim=1, keepdim=True))


def one_too_many(x, tokens, pad_id):
    real = tokens != pad_id
    return _weighted(x, real, real.sum(dim=1, keepdim=True) + 1)


def all_sentences_in_one(x, tokens, pad_id):
    return x[tokens != pad_id].mean(dim=0)


def first_vector(x, tokens, pad_id):
    return x[:, 0]


def last_vector(x, tokens, pad_id):
    return x[:, -1]


def largest_numbers(x, tokens, pad_id):
    return x.masked_fill((tokens == pad_id).unsqueeze(-1), -torch.inf).amax(dim=1)


def features_averaged(x, tokens, pad_id):
    return (x * (tokens != pad_id).unsqueeze(-1)).mean(dim=-1)


def axis_kept(x, tokens, pad_id):
    real = (tokens != pad_id).unsqueeze(-1)
    return (x * real).sum(dim=1, keepdim=True) / real.sum(dim=1, keepdim=True).clamp(min=1)


def mask_without_an_axis(x, tokens, pad_id):
    real = tokens != pad_id
    return (x * real).sum(dim=1) / real.sum(dim=1, keepdim=True).clamp(min=1)


def filled_without_an_axis(x, tokens, pad_id):
    real = tokens != pad_id
    return x.masked_fill(~real, 0.0).sum(dim=1) / real.sum(dim=1, keepdim=True).clamp(min=1)


def count_with_an_axis_too_many(x, tokens, pad_id):
    real = (tokens != pad_id).unsqueeze(-1)
    return (x * real).sum(dim=1) / real.sum(dim=1, keepdim=True).clamp(min=1)


def count_without_an_axis(x, tokens, pad_id):
    real = tokens != pad_id
    return _weighted(x, real, real.sum(dim=1).clamp(min=1))


def erased_in_place(x, tokens, pad_id):
    real = tokens != pad_id
    x[~real] = 0.0
    return x.sum(dim=1) / real.sum(dim=1, keepdim=True).clamp(min=1)


MISTAKES = [
    Mistake(
        "padding_averaged_too",
        [padding_averaged_too],
        says="The padding is averaged, too: the same sentence gets another vector in a batch with a longer one.",
        hints=[
            "In the second case, what should the second sentence's vector be made of?",
            "`tokens != pad_id` says which vectors count.",
            "Multiply the vectors that do not count by 0, add up, and divide by the number of those that do.",
        ],
    ),
    Mistake(
        "divided_by_the_length",
        [
            divided_by_the_length,
            divided_by_the_width,
            divided_by_all_tokens_of_the_batch,
            divided_by_the_size_of_the_batch,
            one_too_many,
        ],
        says=(
            "Only the real tokens are added up, but the sum is divided by another number than theirs: with padding, "
            "vectors come out too short or too long. Look at the divisor."
        ),
        hints=[
            "How many real tokens has each sentence?",
            "Each sentence has a divisor of its own.",
            "`(tokens != pad_id).sum(dim=1, keepdim=True)`, and at least 1.",
        ],
    ),
    Mistake(
        "padding_added_too",
        [padding_added_too],
        says="The vectors of the padding are added up, too. They should be silenced before the sum. Look at what is summed.",
        hints=[
            "In the first case, the third token is padding. Does changing its vector change the result?",
            "`tokens != pad_id` says which vectors count.",
            "`(x * real.unsqueeze(-1)).sum(dim=1)`, where `real` is that comparison.",
        ],
    ),
    Mistake(
        "padding_only_behind",
        [padding_only_behind, padding_only_behind_and_nan],
        says=(
            "Right as long as all padding stands behind the sentence: the first vectors are averaged, as many as there are "
            "real tokens. Where padding stands in front, it is taken for them."
        ),
        hints=[
            "In the third case, which vectors of a sentence with padding in front are averaged?",
            "Which tokens count is known place by place: `tokens != pad_id`.",
            "Multiply by `(tokens != pad_id).unsqueeze(-1)`, and add up over `dim=1`.",
        ],
    ),
    Mistake(
        "sum_of_the_tokens",
        [sum_of_the_tokens],
        says="The vectors are added up, and not divided: long sentences get long vectors.",
        hints=[
            "For three equal vectors, what should the result be?",
            "A mean is a sum divided by a number. By which?",
            "By the number of real tokens of each sentence, and at least 1.",
        ],
    ),
    Mistake(
        "mean_of_the_padding",
        [mean_of_the_padding, mean_of_the_padding_and_nan],
        says="It is the padding that is averaged. Look at the comparison.",
        hints=[
            "For which tokens should it say True?",
            "Real is what is *not* padding.",
            "`tokens != pad_id`.",
        ],
    ),
    Mistake(
        "padding_is_always_zero",
        [padding_is_always_zero],
        says="Padding seems to be taken to be token 0. Which token it is, the last argument says.",
        hints=[
            "Which case has another `pad_id` than 0?",
            "Token 0 can be a word like any other.",
            "Compare with `pad_id`.",
        ],
    ),
    Mistake(
        "nan_where_nothing_is_real",
        [nan_where_nothing_is_real],
        says="Where a sentence is nothing but padding, 0 is divided by 0. It should get a vector of zeros.",
        hints=[
            "What is the number of real tokens there?",
            "What could be divided by instead, without changing anything for the others?",
            "`.clamp(min=1)` makes 1 of 0 and leaves larger numbers alone.",
        ],
    ),
    Mistake(
        "all_sentences_in_one",
        [all_sentences_in_one],
        says=(
            "All the sentences are averaged into one vector: picking vectors by a mask of (batch, n) forgets which "
            "sentence each belongs to."
        ),
        hints=[
            "What shape is asked for?",
            "Multiplying by 0 and 1 takes out vectors and keeps the shape.",
            "Multiply, add up over `dim=1`, divide.",
        ],
    ),
    Mistake(
        "first_vector",
        [first_vector, last_vector],
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
        [largest_numbers],
        says="The largest number of each feature is taken. That is used as well; here the mean is asked for.",
        hints=[
            "For the features 1 and 3 of two tokens, what should come out?",
            "2, their mean.",
            "Add up over `dim=1`, divide by how many are real.",
        ],
    ),
    Mistake(
        "features_averaged",
        [features_averaged],
        says=(
            "The features of each token are averaged, so that one number per token is left. It should be the tokens of "
            "each sentence. Look at the axis."
        ),
        hints=[
            "What shape is asked for, and what shape comes out?",
            "x has the shape (batch, n, d_model). Which axis should be gone?",
            "Axis 1.",
        ],
    ),
    Mistake(
        "axis_kept",
        [axis_kept],
        says="The numbers are right, but an axis of length 1 is left over.",
        hints=[
            "What shape is asked for?",
            "Which `keepdim` is one too many?",
            "Add up x over `dim=1` without `keepdim`.",
        ],
    ),
    Mistake(
        "mask_without_an_axis",
        [mask_without_an_axis, filled_without_an_axis],
        says="(batch, n, d_model) and (batch, n) do not line up: shapes are compared from the right. A crash, or worse.",
        hints=[
            "Which axis does the mask lack?",
            "(batch, n, 1) would fit.",
            "`.unsqueeze(-1)`, or `[..., None]`.",
        ],
    ),
    Mistake(
        "count_without_an_axis",
        [count_without_an_axis],
        says="(batch, d_model) and (batch) do not line up: shapes are compared from the right. A crash, or worse.",
        hints=[
            "Which shape has the number of real tokens?",
            "(batch, 1) would fit.",
            "`keepdim=True`.",
        ],
    ),
    Mistake(
        "count_with_an_axis_too_many",
        [count_with_an_axis_too_many],
        says=(
            "The sum has the shape (batch, d_model), but what it is divided by (batch, 1, 1), so that every sentence is "
            "divided by every sentence's number. Look at the axes of the divisor."
        ),
        hints=[
            "Which shape comes out for a batch of two sentences?",
            "A mask of shape (batch, n, 1) has its last axis already.",
            "Count over `dim=1` without `keepdim`.",
        ],
    ),
    Mistake(
        "erased_in_place",
        [erased_in_place],
        says="The result is right, but x is not what it was: the vectors of the padding were overwritten.",
        hints=[
            "Which line writes into x?",
            "A product with 0 and 1 makes a new tensor.",
            "`x * real.unsqueeze(-1)`.",
        ],
    ),
]
