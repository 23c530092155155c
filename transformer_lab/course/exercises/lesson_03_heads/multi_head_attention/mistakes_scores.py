"""Mistakes in scores and weights, and in what is returned."""

import torch
from torch import nn

from transformer_lab.course.exercise import Mistake
from transformer_lab.course.exercises.lesson_03_heads.multi_head_attention.mistake_template import InPieces


class ScaledByTheModelsWidth(InPieces):
    def scores(self, q, k):
        return q @ k.mT / (q.shape[-1] * self.n_heads) ** 0.5


class NotScaled(InPieces):
    def scores(self, q, k):
        return q @ k.mT


class DividedByTheWidth(InPieces):
    def scores(self, q, k):
        return q @ k.mT / q.shape[-1]


class ScaledByTheNumberOfHeads(InPieces):
    def scores(self, q, k):
        return q @ k.mT / q.shape[1] ** 0.5


class ScaledByTheNumberOfKeys(InPieces):
    def scores(self, q, k):
        return q @ k.mT / k.shape[-2] ** 0.5


class MultipliedByTheRoot(InPieces):
    def scores(self, q, k):
        return q @ k.mT * q.shape[-1] ** 0.5


class KeysNotTransposed(InPieces):
    def scores(self, q, k):
        return q @ k / q.shape[-1] ** 0.5


class WrongAxesOfTheKeys(InPieces):
    def scores(self, q, k):
        return q @ k.transpose(1, 2) / q.shape[-1] ** 0.5


class AllAxesOfTheKeys(InPieces):
    def scores(self, q, k):
        return q @ k.permute(3, 2, 1, 0) / q.shape[-1] ** 0.5


class NoSoftmax(InPieces):
    def weights(self, scores, mask):
        return scores if mask is None else scores.masked_fill(~mask, -torch.inf)


class SoftmaxOverQueries(InPieces):
    def weights(self, scores, mask):
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf)
        return torch.softmax(scores, dim=-2)


class SoftmaxOverHeads(InPieces):
    def weights(self, scores, mask):
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf)
        return torch.softmax(scores, dim=1)


class WeightsDropped(InPieces):
    def weights(self, scores, mask):
        return nn.functional.dropout(super().weights(scores, mask), 0.1)


class WeightsReturnedToo(InPieces):
    def forward(self, query, key, value, mask=None):
        q, k, v = (self.split(x) for x in self.project(query, key, value))
        weights = self.weights(self.scores(q, k), mask)
        return self.w_o(self.merge(weights @ v)), weights


class InputAdded(InPieces):
    def forward(self, query, key, value, mask=None):
        return query + super().forward(query, key, value, mask)


MISTAKES = [
    Mistake(
        "scaled_by_the_models_width",
        [ScaledByTheModelsWidth],
        says=(
            "The scores are divided by the root of d_model. A score adds up only d_k products, so this makes the "
            "weights too even. Look at which width is taken."
        ),
        hints=[
            "How many products are added up in one score of one head?",
            "After the split, d_model is not the width of anything any more.",
            "√d_k, where d_k is `q.shape[-1]` after the split.",
        ],
    ),
    Mistake(
        "not_scaled",
        [NotScaled],
        says="The scores are not divided by √d_k: the weights are too sharp. Lesson 02 says what that does.",
        hints=[
            "What stands in the formula of attention besides Q, K and V?",
            "Where does the root of d_k come in?",
            "Divide the scores by `q.shape[-1] ** 0.5`, taken after the split.",
        ],
    ),
    Mistake(
        "divided_by_the_width",
        [DividedByTheWidth],
        says="The scores are divided by d_k: the weights are too even. Look at the formula of attention once more.",
        hints=[
            "By what should the scores be divided?",
            "Dividing by c divides the variance by c².",
            "By the *root* of d_k.",
        ],
    ),
    Mistake(
        "scaled_by_the_number_of_heads",
        [ScaledByTheNumberOfHeads, ScaledByTheNumberOfKeys, MultipliedByTheRoot],
        says=(
            "The scores are scaled by something else than √d_k. Look at the number, at the axis from which it is "
            "taken, and at what is done with it."
        ),
        hints=[
            "After the split, q has the shape (batch, n_heads, n_query, d_k). Which of the four is taken?",
            "A score adds up d_k products, and grows with the root of their number.",
            "Divide the scores by `q.shape[-1] ** 0.5`, taken after the split.",
        ],
    ),
    Mistake(
        "keys_not_transposed",
        [KeysNotTransposed],
        says=(
            "`q @ k` pairs the width of the one with the *number* of the other. That crashes, or, where the two happen "
            "to be equal, gives nonsense. Look at the shapes on both sides of the `@`."
        ),
        hints=[
            "(n_query, d_k) @ (n_key, d_k): which two numbers have to be equal in a matrix product?",
            "Each key is a row of k. It should be a column on the right-hand side.",
            "Swap the last two axes of the keys: `k.mT`, or `k.transpose(-2, -1)`.",
        ],
    ),
    Mistake(
        "wrong_axes_of_the_keys",
        [WrongAxesOfTheKeys, AllAxesOfTheKeys],
        says=(
            "The wrong axes of the keys are swapped for the scores: the heads, or even the batch, do not stay where "
            "they are. Look at how the keys are transposed."
        ),
        hints=[
            "After the split, k has the shape (batch, n_heads, n_key, d_k). Which two axes are to change places?",
            "What is in front of the last two axes should not move.",
            "`k.mT`, or `k.transpose(-2, -1)`.",
        ],
    ),
    Mistake(
        "no_softmax",
        [NoSoftmax],
        says=(
            "The values are mixed by raw scores: nothing makes the weights positive or lets them add up to 1, and "
            "hidden keys count −∞. A step is missing between scores and mixing, or what it gives is lost."
        ),
        hints=[
            "What should each row of the weights add up to?",
            "Which function turns a row of scores into weights?",
            "`weights = torch.softmax(scores, dim=-1)`, then `weights @ v`.",
        ],
    ),
    Mistake(
        "softmax_over_queries",
        [SoftmaxOverQueries],
        says="The weights add up to 1 over the queries instead of over the keys. Look at the axis of the softmax.",
        hints=[
            "The scores have the shape (batch, n_heads, n_query, n_key). Which axis are the keys?",
            "Each query hands out one unit of attention, in each head.",
            "`dim=-1`.",
        ],
    ),
    Mistake(
        "softmax_over_heads",
        [SoftmaxOverHeads],
        says=(
            "The weights add up to 1 over the heads: they compete with one another, and with a single head every "
            "weight is 1. Look at the axis of the softmax."
        ),
        hints=[
            "The scores have the shape (batch, n_heads, n_query, n_key). Which axis is number 1?",
            "Count from the end, and a new axis in front does no harm.",
            "`dim=-1`.",
        ],
    ),
    Mistake(
        "weights_dropped",
        [WeightsDropped],
        says=(
            "Some weights are dropped at random, in evaluation too, so that two calls give two results. There is no "
            "dropout in this exercise."
        ),
        hints=[
            "Where does chance come in?",
            "`F.dropout` drops always, unless it is told that nobody is training.",
            "Leave the dropout out.",
        ],
    ),
    Mistake(
        "weights_returned_too",
        [WeightsReturnedToo],
        says="The output is right, but the weights are returned as well. Only the output is asked for.",
        hints=[
            "How many things does the annotation say are returned?",
            "Whoever calls it would get a tuple.",
            "Return the output alone.",
        ],
    ),
    Mistake(
        "input_added",
        [InputAdded],
        says=(
            "The queries are added to the output. Such a connection comes in lesson 06, around the attention, not "
            "inside it."
        ),
        hints=[
            "What comes after w_o in the formula?",
            "Is there a `+ query` in the code?",
            "Return what w_o gives.",
        ],
    ),
]
