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
        "padding_averaged_too",
        STEPS.but(real=lambda tokens: torch.ones_like(tokens, dtype=torch.bool)),
        does="the padding is averaged as if it were real",
        says="The padding is averaged, too: the same sentence gets another vector in a batch with a longer one.",
        hints=[
            "In the first case, what should the sentence's vector be made of?",
            "`tokens != pad_id` says which vectors count.",
            "Multiply the vectors that do not count by 0, add up, and divide by the number of those that do.",
        ],
    ),
    Mistake(
        "padding_added_too",
        STEPS.but(without_padding=lambda x: x),
        does="the vectors of the padding are added up, too",
        says="{does}. They should be 0 in the sum. Look at what is added up.",
        hints=[
            "In the first case, the third token is padding. Does changing its vector change the result?",
            "`tokens != pad_id` says which vectors count.",
            "`(x * real.unsqueeze(-1)).sum(dim=1)`, where `real` is that comparison.",
        ],
    ),
    Mistake(
        "mean_of_the_padding",
        STEPS.but(real=lambda tokens, pad_id: tokens == pad_id),
        does="the padding is taken for the real tokens, and those for padding",
        says="It is the padding that is averaged. Look at the comparison.",
        hints=[
            "For which tokens should it be True?",
            "Real is what is *not* padding.",
        ],
    ),
    Mistake(
        "sum_of_the_padding",
        STEPS.but(
            real=lambda tokens, pad_id: tokens == pad_id,
            count=lambda tokens, pad_id: (tokens != pad_id).sum(dim=1, keepdim=True),
        ),
        does="the vectors of the padding are added up, and not those of the real tokens",
        says=(
            "The vectors of the padding are added up, and the sum is divided by the number of real tokens. Look at "
            "which vectors become 0."
        ),
        hints=[
            "In the first case, which two vectors should be added up?",
            "The vectors of the padding should become 0, and those of the real tokens stay.",
            "`x * real.unsqueeze(-1)`, or `x.masked_fill(~real.unsqueeze(-1), 0)`.",
        ],
    ),
    Mistake(
        "padding_is_always_zero",
        STEPS.but(real=lambda tokens: tokens != 0),
        does="padding is taken to be token 0, whatever `pad_id` is",
        says="Padding is taken to be token 0. Which token it is, the last argument says.",
        hints=[
            "Which case has another `pad_id` than 0?",
            "Token 0 can be a word like any other.",
            "Compare with `pad_id`.",
        ],
    ),
    Mistake(
        "zero_is_padding_too",
        STEPS.but(real=lambda tokens, pad_id: (tokens != pad_id) & (tokens != 0)),
        does="token 0 is taken for padding, too",
        says="{does}, also where `pad_id` is another one. Look at the comparison.",
        hints=[
            "Which case has another `pad_id` than 0?",
            "Token 0 can be a word like any other.",
            "Compare with `pad_id`, and with nothing else.",
        ],
    ),
    Mistake(
        "padding_is_the_smallest",
        STEPS.but(real=lambda tokens, pad_id: tokens > pad_id),
        does="only tokens above `pad_id` are taken for real",
        says="{does}: those below it count as padding. Look at the comparison.",
        hints=[
            "In the cases with a `pad_id` other than 0, which tokens are left out?",
            "Token numbers have no order that means anything: below and above `pad_id` there are words.",
        ],
    ),
    Mistake(
        "padding_is_the_largest",
        STEPS.but(real=lambda tokens, pad_id: tokens < pad_id),
        does="only tokens below `pad_id` are taken for real",
        says="{does}: those above it count as padding. Look at the comparison.",
        hints=[
            "In the first case `pad_id` is 0. Which tokens are below it?",
            "Token numbers have no order that means anything: below and above `pad_id` there are words.",
        ],
    ),
    Mistake(
        "padding_only_behind",
        STEPS.but(real=lambda real: _leading(real)),
        does="the first vectors are averaged, as many as there are real tokens",
        says=(
            "Right as long as all padding stands behind the sentence: {does}. Where padding stands in front, it is "
            "taken for them."
        ),
        hints=[
            "In a sentence with padding in front, which vectors are averaged?",
            "Which tokens count is known place by place: `tokens != pad_id`.",
            "Multiply by `(tokens != pad_id).unsqueeze(-1)`, and add up over `dim=1`.",
        ],
    ),
    Mistake(
        "ends_at_the_first_padding",
        STEPS.but(real=lambda real: real.long().cumprod(dim=1).bool()),
        does="a sentence is taken to end at its first padding",
        says=(
            "Right as long as all padding stands behind the sentence: it is taken to end at the first padding. Where "
            "padding stands in front, nothing is left of the sentence."
        ),
        hints=[
            "In a sentence with padding in front, which vectors are averaged?",
            "Which tokens count is known place by place: `tokens != pad_id`.",
            "Multiply by `(tokens != pad_id).unsqueeze(-1)`, and add up over `dim=1`.",
        ],
    ),
    Mistake(
        "mask_of_the_first_sentence",
        STEPS.but(real=lambda real: real[:1].expand_as(real)),
        does="the padding of the first sentence is taken for that of all sentences",
        says="{does}. Each has padding of its own. Look at which tokens are compared.",
        hints=[
            "In a batch of two sentences, change a token of the second one to padding. Does its vector change?",
            "`tokens` has the shape (batch, n), and so should the mask.",
            "`tokens != pad_id` compares all tokens at once.",
        ],
    ),
    Mistake(
        "mask_without_an_axis",
        STEPS.but(column=lambda real: real),
        STEPS.but(column=lambda real: real.unsqueeze(1)),
        does="the mask has no axis of length 1 for the features",
        says=(
            "The mask has no axis of length 1 at its end, for the features. Shapes are compared from the right, so "
            "(batch, n, d_model) and (batch, n) do not line up: that crashes, or features are hidden in place of "
            "tokens."
        ),
        hints=[
            "Which shape has the mask, and which one has x?",
            "(batch, n, 1) would fit.",
            "`.unsqueeze(-1)`, or `[..., None]`.",
        ],
    ),
    Mistake(
        "all_sentences_in_one",
        STEPS.but(mean=lambda x, real: x[real].mean(dim=0)),
        STEPS.but(total=lambda x, real: x[real].sum(dim=0)),
        STEPS.but(mean=lambda x, real: x[real].mean(dim=0).expand(len(x), -1)).attempt,
        does="the real tokens of all sentences are thrown together",
        says="{does}: picking vectors by a mask of shape (batch, n) forgets which sentence each belongs to.",
        hints=[
            "Which shape has `x[real]`, and which shape is asked for?",
            "Multiplying by 0 and 1 takes out vectors and keeps the shape.",
            "Multiply, add up over `dim=1`, divide.",
        ],
    ),
    Mistake(
        "a_token_left_out",
        STEPS.but(x=lambda x: x[:, 1:], tokens=lambda tokens: tokens[:, 1:]),
        STEPS.but(x=lambda x: x[:, :-1], tokens=lambda tokens: tokens[:, :-1]),
        STEPS.but(without_padding=lambda without_padding: without_padding[:, 1:]),
        STEPS.but(without_padding=lambda without_padding: without_padding[:, :-1]).attempt,
        does="the first or the last token of each sentence is left out",
        says="{does}. Look at the slices, or at where the loop begins.",
        hints=["Which tokens does the mean of a sentence without padding run over?", "`1:` and `:-1` drop one."],
    ),
    Mistake(
        "erased_in_place",
        STEPS.but(without_padding=lambda x, real: _overwritten(x, real)),
        does="the vectors of the padding are overwritten in x itself",
        says="The result is right, but x is not what it was: the vectors of the padding were overwritten.",
        hints=[
            "Which line writes into x?",
            "A product with 0 and 1 makes a new tensor.",
            "`x * real.unsqueeze(-1)`.",
        ],
    ),
]
