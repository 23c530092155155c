"""The token embeddings of a Transformer: scaled rows of a table, and zeros for padding."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def embedding_lookup(
    tokens: Int[Tensor, "*batch n"], table: Float[Tensor, "vocab_size d_model"], pad_id: int
) -> Float[Tensor, "*batch n d_model"]:
    """Return each token's row of the table, times √d_model; padding gets zeros."""
    vectors = table[tokens] * table.shape[1] ** 0.5
    return vectors * (tokens != pad_id)[..., None]


def rows(tokens, table):
    """take the row of each token → the row of each token, (…, n, d_model)"""
    return table[tokens]


def scale(table):
    """take the square root of the number of columns → the scale: √d_model"""
    return table.shape[1] ** 0.5


def scaled(rows, scale):
    """multiply the rows by the scale → the scaled rows"""
    return rows * scale


def real(tokens, pad_id):
    """mark the tokens that are not padding → the mask of real tokens, (…, n)"""
    return tokens != pad_id


def output(scaled, real):
    """multiply each row by its mask → the embeddings, with zeros for padding"""
    return scaled * real[..., None]


STEPS = InSteps(rows, scale, scaled, real, output, reference=embedding_lookup)


def embedding_lookup_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(shape, vocab_size, d_model, pad_id, shows, *, n_padding=0):
        tokens = torch.randint(vocab_size - 1, shape, generator=rng)
        tokens += tokens >= pad_id  # excludes the padding id
        if n_padding:
            tokens[..., -n_padding:] = pad_id
        return Case({"tokens": tokens, "table": normal(rng, vocab_size, d_model), "pad_id": pad_id}, shows)

    repeated = case((4,), 5, 3, 4, "a token that occurs three times")
    repeated.inputs["tokens"][1:] = repeated.inputs["tokens"][1]
    return [
        case((2,), 3, 2, 0, "2 tokens, a table of 3 rows and 2 columns"),
        repeated,
        case((4,), 4, 4, 2, "as many rows as columns, one token of padding", n_padding=1),
        case((3,), 2, 5, 1, "nothing but padding", n_padding=3),
        case((3, 5), 7, 4, 3, "3 texts of 5 tokens, 2 of them padding", n_padding=2),
        case((2, 3, 7), 31, 9, 0, "a batch of batches", n_padding=1),
        case((5, 13), 97, 16, 96, "5 texts of 13 tokens, 97 kinds of token", n_padding=4),
    ]


MISTAKES = [
    Mistake(
        "not_scaled",
        STEPS.but(scaled=lambda rows: rows),
        summary="you don't multiply by √d_model",
        message="You don't scale the rows. The Transformer adds positional encodings whose entries are up to 1, and "
        "the rows start with entries of about 1/√d_model. Which factor makes them comparable?",
        hints=["Section 3.4 of *Attention Is All You Need* multiplies the embeddings by a number. Which one?"],
    ),
    Mistake(
        "divided_by_the_root",
        STEPS.but(scaled=lambda rows, scale: rows / scale),
        summary="you divide by √d_model",
        message="You divide by √d_model, as attention divides its scores. Embeddings are scaled *up*. What should "
        "happen to rows that start with entries of about 1/√d_model?",
        hints=["With 4 columns, should an entry of 1 become 0.5 or 2?"],
    ),
    Mistake(
        "padding_keeps_its_row",
        STEPS.but(output=lambda scaled: scaled),
        summary="you give padding a vector like any other token",
        message="Padding gets its row of the table, so it contributes to sums and its row is trained. What should "
        "the vectors of padding be?",
        hints=["What does your code return for a text of nothing but padding?"],
    ),
    Mistake(
        "drops_token_0",
        STEPS.but(pad_id=lambda: 0),
        summary="you treat token 0 as padding",
        message=(
            "You treat token 0 as padding, whatever `pad_id` is. In GPT-2's vocabulary, token 0 is an ordinary token, "
            "`!`. Compare with `pad_id` instead."
        ),
        hints=["With `pad_id=96`, what should happen to token 0?"],
    ),
    Mistake(
        "real_tokens_dropped",
        STEPS.but(real=lambda tokens, pad_id: tokens == pad_id),
        summary="your mask is inverted",
        message="Your mask is inverted: real tokens get zeros and padding keeps its row. Which of `==` and `!=` is "
        "True for a real token?",
        hints=["For a text without padding, what does your code return?"],
    ),
    Mistake(
        "mask_without_the_feature_dimension",
        STEPS.but(output=lambda scaled, real: scaled * real),
        summary="you multiply by a mask that lacks the dimension of the features",
        message="Your mask has the shape (…, n) and the vectors have (…, n, d_model), so broadcasting lines up the "
        "tokens with the features. Which dimension does the mask need at its end?",
        hints=["What are the shapes of your vectors and of your mask for 3 tokens and 5 features?"],
    ),
    Mistake(
        "clears_a_feature",
        STEPS.but(output=lambda scaled, pad_id: scaled.index_fill(-1, torch.tensor([pad_id]), 0.0)).attempt,
        STEPS.but(
            output=lambda scaled, tokens, pad_id: (
                scaled.index_fill(-1, torch.tensor([pad_id]), 0.0) if (tokens == pad_id).any() else scaled
            )
        ),
        summary="you set the feature with the number `pad_id` to 0",
        message=(
            "{summary}, in all tokens. `pad_id` is a token ID: the *tokens* with that ID should become 0. Which "
            "dimension do you index?"
        ),
        hints=["For tokens 1, 0, 2 and `pad_id=0`, which of the three vectors should be zeros?"],
    ),
]

EXERCISE = Exercise(
    reference=embedding_lookup,
    steps=STEPS,
    cases=embedding_lookup_cases,
    points=1,
    stretch=True,
    verified="Every token gets its scaled row, padding gets zeros, and gradients reach the rows of the tokens that "
    "occur and no others.",
    hints=[
        "The table has one row per token. For the tokens [2, 0, 2], which rows do you need, in which order?",
        "A one-hot vector times the table selects a row. Indexing the table with a tensor of tokens does the same "
        "without the multiplications.",
        "Index the table with the tokens, multiply by √d_model, and multiply by a mask that is 0 for padding.",
        "`table[tokens]` has the shape (…, n, d_model); `(tokens != pad_id)[..., None]` lines up with it.",
    ],
    messages={
        "length_scale: table.shape[-2]": Wording(
            "{summary}, so your embeddings grow with the vocabulary. The factor is √d_model. Which dimension of the "
            "table is d_model?",
            summary="you multiply by the square root of the number of rows",
        ),
        "part_left_out_scale: table.shape[1]": Wording(
            "You multiply by d_model. With 16 columns, the factor should be 4. Which function is missing?",
            summary="you multiply by d_model instead of √d_model",
        ),
    },
    mistakes=MISTAKES,
)
