"""What goes wrong when tokens become vectors with positions."""

import math

from transformer_lab.course.exercise import Mistake
from transformer_lab.course.exercises.lesson_06_encoder.encoder.mistake_template import InPieces
from transformer_lab.course.exercises.shared.layer_stack_mistakes import (
    counted_from_elsewhere,
    positions_called,
    tokens_not_embedded,
)


class EmbeddingsNotScaled(InPieces):
    def embed(self, tokens):
        return self.embedding(tokens) + self.positions[: tokens.shape[1]]


class PositionsScaledToo(InPieces):
    def embed(self, tokens):
        x = self.embedding(tokens) + self.positions[: tokens.shape[1]]
        return x * x.shape[-1] ** 0.5


class OnlyPositionsScaled(InPieces):
    def embed(self, tokens):
        x = self.embedding(tokens)
        return x + x.shape[-1] ** 0.5 * self.positions[: tokens.shape[1]]


class ScaledByTheWidth(InPieces):
    def embed(self, tokens):
        x = self.embedding(tokens)
        return x * x.shape[-1] + self.positions[: tokens.shape[1]]


class DividedByTheRoot(InPieces):
    def embed(self, tokens):
        x = self.embedding(tokens)
        return x / x.shape[-1] ** 0.5 + self.positions[: tokens.shape[1]]


class ScaledByTheLength(InPieces):
    def embed(self, tokens):
        return self.embedding(tokens) * tokens.shape[-1] ** 0.5 + self.positions[: tokens.shape[1]]


class ScaledByTheVocabulary(InPieces):
    def embed(self, tokens):
        return self.embedding(tokens) * self.embedding.num_embeddings**0.5 + self.positions[: tokens.shape[1]]


class NeitherScaledNorPlaced(InPieces):
    def embed(self, tokens):
        return self.embedding(tokens)


class TokensNotEmbedded(InPieces):
    def embed(self, tokens):
        return tokens + self.positions[: tokens.shape[1]]


class WidthNotKnown(InPieces):
    def embed(self, tokens):
        return self.embedding(tokens) * math.sqrt(d_model) + self.positions[: tokens.shape[1]]  # type: ignore[name-defined]  # noqa: F821


class NoPositions(InPieces):
    def embed(self, tokens):
        x = self.embedding(tokens)
        return x * x.shape[-1] ** 0.5


class PositionsOfTheBatch(InPieces):
    def embed(self, tokens):
        x = self.embedding(tokens)
        return x * x.shape[-1] ** 0.5 + self.positions[: x.shape[0]]


class PositionsOfTheWidth(InPieces):
    def embed(self, tokens):
        x = self.embedding(tokens)
        return x * x.shape[-1] ** 0.5 + self.positions[: x.shape[-1]]


class PositionsCalled(InPieces):
    def embed(self, tokens):
        x = self.embedding(tokens)
        return x * x.shape[-1] ** 0.5 + self.positions(x)  # type: ignore[operator]


class CountedFromOne(InPieces):
    def embed(self, tokens):
        x = self.embedding(tokens)
        return x * x.shape[-1] ** 0.5 + self.positions[1 : x.shape[1] + 1]


class CountedFromTheEnd(InPieces):
    def embed(self, tokens):
        x = self.embedding(tokens)
        return x * x.shape[-1] ** 0.5 + self.positions[-x.shape[1] :]


class PositionsByRow(InPieces):
    def embed(self, tokens):
        x = self.embedding(tokens)
        return x * x.shape[-1] ** 0.5 + self.positions[: x.shape[0], None]


class AllPositions(InPieces):
    def embed(self, tokens):
        x = self.embedding(tokens)
        return x * x.shape[-1] ** 0.5 + self.positions


class PositionsByToken(InPieces):
    def embed(self, tokens):
        x = self.embedding(tokens)
        return x * x.shape[-1] ** 0.5 + self.positions[tokens]


class OnePosition(InPieces):
    def embed(self, tokens):
        x = self.embedding(tokens)
        return x * x.shape[-1] ** 0.5 + self.positions[tokens.shape[1]]


class OnePositionCountedFromZero(InPieces):
    def embed(self, tokens):
        x = self.embedding(tokens)
        return x * x.shape[-1] ** 0.5 + self.positions[tokens.shape[1] - 1]


MISTAKES = [
    Mistake(
        "embeddings_not_scaled",
        [EmbeddingsNotScaled],
        says=(
            "The embeddings are not scaled. Drawn as they should be, with variance 1/d_model, they are hardly to be seen "
            "next to the positions. Look at what is done before the positions are added."
        ),
        hints=[
            "How large are the numbers of an embedding, and how large those of a sinusoid?",
            "The embeddings are multiplied by √d_model.",
            "`self.embedding(tokens) * math.sqrt(self.embedding.embedding_dim)`.",
        ],
    ),
    Mistake(
        "positions_scaled_too",
        [PositionsScaledToo, OnlyPositionsScaled],
        says=(
            "The positions are scaled, too: then they are as much too large as before, or larger. Look at the order of "
            "scaling and adding."
        ),
        hints=[
            "What should the output of the first step be for an embedding of zeros?",
            "Only the embeddings are multiplied by √d_model.",
            "First scale, then add the positions as they are.",
        ],
    ),
    Mistake(
        "scaled_by_the_width",
        [ScaledByTheWidth, DividedByTheRoot, ScaledByTheLength, ScaledByTheVocabulary],
        says="The embeddings are scaled by another number than √d_model. Look at the factor.",
        hints=[
            "With d_model = 16, the factor should be 4.",
            "Multiply, do not divide; the root, not the width; the width, not the length.",
            "`math.sqrt(self.embedding.embedding_dim)`.",
        ],
    ),
    Mistake(
        "neither_scaled_nor_placed",
        [NeitherScaledNorPlaced],
        says=(
            "The embeddings are handed on as they are: they are neither multiplied by √d_model, nor given positions. Look "
            "at what comes before the first layer."
        ),
        hints=[
            "Which things of `__init__` are not used in `forward`?",
            "First scale, then add positions.",
            "Multiply the embeddings by `math.sqrt(self.embedding.embedding_dim)`, and add as many rows of "
            "`self.positions` as there are tokens.",
        ],
    ),
    tokens_not_embedded(TokensNotEmbedded),
    Mistake(
        "width_not_known",
        [WidthNotKnown],
        says="`d_model` was an argument of `__init__`; `forward` does not know it. The width can be read off what is there.",
        hints=[
            "Which shape has `self.embedding(tokens)`?",
            "The last entry of its shape is d_model.",
            "`self.embedding.embedding_dim`, or `x.shape[-1]`.",
        ],
    ),
    Mistake(
        "no_positions",
        [NoPositions],
        says=(
            "Nothing tells the layers where a token stands: with the tokens in another order, the same vectors come out in "
            "another order. A step is missing."
        ),
        hints=[
            "What did lesson 05 show about attention without positions?",
            "`self.positions` holds a vector for each position.",
            "Add the first n rows of `self.positions`.",
        ],
    ),
    Mistake(
        "positions_of_the_batch",
        [PositionsOfTheBatch, PositionsByRow],
        says=(
            "Positions are taken by sentence instead of by place: every token of a sentence gets the same one, or it "
            "crashes. Look at which axis the rows of `positions` are counted by."
        ),
        hints=[
            "tokens has the shape (batch, n). Which of the two says how many positions are needed?",
            "The same sentence twice in a batch should give the same vectors twice.",
            "`self.positions[: tokens.shape[1]]`.",
        ],
    ),
    Mistake(
        "positions_of_the_width",
        [PositionsOfTheWidth],
        says=(
            "The rows of the table are counted by d_model, not by the number of tokens in a sentence. Look at which axis "
            "is measured."
        ),
        hints=[
            "The embeddings have the shape (batch, n, d_model). Which of them counts the places?",
            "A sentence of n tokens needs the first n rows.",
            "`self.positions[: tokens.shape[1]]`.",
        ],
    ),
    positions_called(PositionsCalled),
    counted_from_elsewhere(CountedFromOne, also=[CountedFromTheEnd]),
    Mistake(
        "all_positions",
        [AllPositions],
        says="All positions of the table are added, however short the sentence. There are max_length of them.",
        hints=[
            "Which shape has `self.positions`, and which shape is it added to?",
            "A sentence of n tokens needs the first n rows.",
            "`self.positions[: tokens.shape[1]]`.",
        ],
    ),
    Mistake(
        "positions_by_token",
        [PositionsByToken],
        says=(
            "Positions are looked up by token: wherever a token stands, it gets the same one. They should be looked up by "
            "place."
        ),
        hints=[
            "Which row of the table belongs to the first token of a sentence?",
            "Row 0 to the first, row 1 to the second, whatever the tokens are.",
            "`self.positions[: tokens.shape[1]]`.",
        ],
    ),
    Mistake(
        "one_position",
        [OnePosition, OnePositionCountedFromZero],
        says="One row of the table is added to all the tokens. A colon may be missing.",
        hints=[
            "What is `table[3]`, and what is `table[:3]`?",
            "A sentence of n tokens needs the first n rows.",
            "`self.positions[: tokens.shape[1]]`.",
        ],
    ),
]
