"""Mistakes in how a decoder begins: embeddings, their scale, and positions."""

import math

from torch.nn import functional as F

from transformer_lab.course.exercise import Mistake
from transformer_lab.course.exercises.lesson_07_decoder.decoder.mistake_template import InPieces
from transformer_lab.course.exercises.shared.layer_stack_mistakes import (
    counted_from_elsewhere,
    positions_called,
    tokens_not_embedded,
)


class NotScaled(InPieces):
    def embed(self, tokens):
        return self.embedding(tokens)


class ScaledByTheWidth(InPieces):
    def embed(self, tokens):
        return self.embedding(tokens) * self.embedding.embedding_dim


class DividedByTheRoot(InPieces):
    def embed(self, tokens):
        return self.embedding(tokens) / math.sqrt(self.embedding.embedding_dim)


class ScaledByTheLength(InPieces):
    def embed(self, tokens):
        return self.embedding(tokens) * math.sqrt(tokens.shape[1])


class ScaledByTheVocabulary(InPieces):
    def embed(self, tokens):
        return self.embedding(tokens) * math.sqrt(self.embedding.num_embeddings)


class NeitherScaledNorPlaced(InPieces):
    def begin(self, tokens):
        return self.embedding(tokens)


class PositionsScaledToo(InPieces):
    def begin(self, tokens):
        return (self.embedding(tokens) + self.place(tokens)) * math.sqrt(self.embedding.embedding_dim)


class NoPositions(InPieces):
    def begin(self, tokens):
        return self.embed(tokens)


class PositionsOfTheBatch(InPieces):
    def place(self, tokens):
        return self.positions[: tokens.shape[0]]


class PositionsOfTheBatchForEverybody(InPieces):
    def place(self, tokens):
        return self.positions[: tokens.shape[0], None]


class PositionsOfTheMemory(InPieces):
    def forward(self, tokens, memory, mask=None, memory_mask=None):
        x = self.embed(tokens) + self.positions[: memory.shape[1]]
        for layer in self.layers:
            x = layer(x, memory, mask, memory_mask)
        return x


class PositionsOfTheWidth(InPieces):
    def place(self, tokens):
        return self.positions[: self.embedding.embedding_dim]


class PositionsCalled(InPieces):
    def place(self, tokens):
        return self.positions(tokens)  # type: ignore[operator]


class AllPositions(InPieces):
    def place(self, tokens):
        return self.positions


class CountedFromOne(InPieces):
    def place(self, tokens):
        return self.positions[1 : tokens.shape[1] + 1]


class CountedFromTheEnd(InPieces):
    def place(self, tokens):
        return self.positions[-tokens.shape[1] :]


class OnlyTheLastPosition(InPieces):
    def place(self, tokens):
        return self.positions[tokens.shape[1]]


class OnlyTheLastPositionCountedFromZero(InPieces):
    def place(self, tokens):
        return self.positions[tokens.shape[1] - 1]


class PositionsOfTheTokens(InPieces):
    def place(self, tokens):
        return self.positions[tokens]


class TokensNotEmbedded(InPieces):
    def begin(self, tokens):
        return tokens + self.place(tokens)


class ShiftedInside(InPieces):
    def begin(self, tokens):
        return super().begin(F.pad(tokens, (1, -1)))


class ShiftedInsideToTheLeft(InPieces):
    def begin(self, tokens):
        return super().begin(F.pad(tokens, (-1, 1)))


MISTAKES = [
    Mistake(
        "not_scaled",
        [NotScaled],
        says=(
            "The embeddings are not multiplied by √d_model: beside positions of size 1, they are too quiet. Look at the "
            "first line."
        ),
        hints=[
            "What does the encoder of lesson 06 do with its embeddings?",
            "The width of the embeddings is `self.embedding.embedding_dim`.",
            "`self.embedding(tokens) * math.sqrt(self.embedding.embedding_dim)`.",
        ],
    ),
    Mistake(
        "scaled_by_the_width",
        [ScaledByTheWidth, DividedByTheRoot, ScaledByTheLength, ScaledByTheVocabulary],
        says="The embeddings are scaled, but not by the root of d_model. Look at the factor.",
        hints=[
            "What does the encoder of lesson 06 do with its embeddings?",
            "They are drawn with a variance of 1/d_model. Which factor gives them a variance of 1?",
            "Multiply them by `math.sqrt(self.embedding.embedding_dim)`.",
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
            "What does the encoder of lesson 06 do with its embeddings?",
            "Which things of `__init__` are not used in `forward`?",
            "Multiply the embeddings by `math.sqrt(self.embedding.embedding_dim)`, and add as many rows of "
            "`self.positions` as there are tokens.",
        ],
    ),
    Mistake(
        "positions_scaled_too",
        [PositionsScaledToo],
        says=(
            "The positions are multiplied by √d_model, too: beside the embeddings they are as loud as without any factor. "
            "Only the embeddings are scaled. Look at the brackets."
        ),
        hints=[
            "What is inside the brackets that are multiplied?",
            "The sinusoids have their right size already.",
            "Scale first, and then add the positions.",
        ],
    ),
    Mistake(
        "no_positions",
        [NoPositions],
        says="No positions are added. Look at what `__init__` has prepared.",
        hints=[
            "Where does `self.positions` occur in `forward`?",
            "The table has max_length rows. How many are needed?",
            "`+ self.positions[: tokens.shape[1]]`.",
        ],
    ),
    Mistake(
        "positions_of_the_batch",
        [PositionsOfTheBatch, PositionsOfTheBatchForEverybody],
        says=(
            "The rows of the table are counted by the size of the batch, not by the number of tokens in a row. That "
            "crashes, or gives positions to sentences. Look at which axis is measured."
        ),
        hints=[
            "`tokens` has the shape (batch, n). Which number is `tokens.shape[0]`?",
            "Row t of the table belongs to the token at place t.",
            "`self.positions[: tokens.shape[1]]`.",
        ],
    ),
    Mistake(
        "positions_of_the_memory",
        [PositionsOfTheMemory],
        says=(
            "As many positions are taken as the *memory* has rows. They are added to what was written, and the two lengths "
            "have nothing to do with each other. Look at what is measured."
        ),
        hints=[
            "To which sequence are the positions added, and how long is it?",
            "Row t of the table belongs to the token at place t.",
            "`self.positions[: tokens.shape[1]]`.",
        ],
    ),
    Mistake(
        "positions_of_the_width",
        [PositionsOfTheWidth],
        says=(
            "The rows of the table are counted by d_model, not by the number of tokens in a row. Look at which axis is "
            "measured."
        ),
        hints=[
            "The embeddings have the shape (batch, n, d_model). Which of them counts the places?",
            "Row t of the table belongs to the token at place t.",
            "`self.positions[: tokens.shape[1]]`.",
        ],
    ),
    positions_called(PositionsCalled),
    Mistake(
        "all_positions",
        [AllPositions],
        says="The whole table of positions is added: max_length rows, to fewer tokens. Look at how many are needed.",
        hints=[
            "Which shapes have the embeddings and the table?",
            "The first n rows are for the first n tokens.",
            "`self.positions[: tokens.shape[1]]`.",
        ],
    ),
    counted_from_elsewhere(CountedFromOne, also=[CountedFromTheEnd]),
    Mistake(
        "only_the_last_position",
        [OnlyTheLastPosition, OnlyTheLastPositionCountedFromZero],
        says=(
            "All tokens get the same row of the table, so that they cannot be told apart by their place. Look at how the "
            "table is indexed."
        ),
        hints=[
            "What shape has `self.positions[n]`, and which `self.positions[:n]`?",
            "Each token needs a row of its own.",
            "`self.positions[: tokens.shape[1]]`, with a colon.",
        ],
    ),
    Mistake(
        "positions_of_the_tokens",
        [PositionsOfTheTokens],
        says=(
            "The table is indexed by the tokens themselves, so that equal tokens get equal positions wherever they stand. "
            "Look at what goes into the brackets."
        ),
        hints=[
            "Which row does token 5 get at place 0, and which at place 3?",
            "What counts is the place, not what stands there.",
            "`self.positions[: tokens.shape[1]]`.",
        ],
    ),
    tokens_not_embedded(TokensNotEmbedded),
    Mistake(
        "shifted_inside",
        [ShiftedInside, ShiftedInsideToTheLeft],
        says=(
            "The tokens are shifted inside the decoder. Whoever calls it has done that already, or, when the model writes, "
            "must not do it at all. Look at what happens to the tokens."
        ),
        hints=[
            "What does the decoder read at its first place?",
            "Shifting twice means that each position misses the token just before it.",
            "Embed the tokens as they come.",
        ],
    ),
]
