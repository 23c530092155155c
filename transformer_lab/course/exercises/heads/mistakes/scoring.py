"""Mistakes in the scores of the heads, and in what becomes of them."""

import torch

from transformer_lab.course.exercise import Mistake
from transformer_lab.course.exercises.heads.mistakes.in_pieces import InPieces


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


class InfinityTimesZero(InPieces):
    def weights(self, scores, mask):
        return torch.softmax(scores if mask is None else scores + ~mask * -torch.inf, dim=-1)


class MaskAsAnIndex(InPieces):
    def weights(self, scores, mask):
        if mask is not None:
            scores[~mask] = -torch.inf
        return torch.softmax(scores, dim=-1)


class MaskAskedForItsTruth(InPieces):
    def weights(self, scores, mask):
        return super().weights(scores, mask if mask else None)


class OneBigHeadWithMasksAsTheyCome(InPieces):
    def forward(self, query, key, value, mask=None):
        q, k, v = self.project(query, key, value)
        return self.w_o(self.weights(self.scores(q, k), mask) @ v)


class OneBigHeadWithoutMasks(InPieces):
    def forward(self, query, key, value, mask=None):
        q, k, v = self.project(query, key, value)
        return self.w_o(torch.softmax(self.scores(q, k), dim=-1) @ v)


MISTAKES = [
    Mistake(
        ScaledByTheNumberOfHeads,
        "The scores are scaled by something else than √d_k. Look at the number, at the axis from which it is taken, "
        "and at what is done with it.",
        [
            "After the split, q has the shape (batch, n_heads, n_query, d_k). Which of the four is taken?",
            "A score adds up d_k products, and grows with the root of their number.",
            "Divide the scores by `q.shape[-1] ** 0.5`, taken after the split.",
        ],
        also=[ScaledByTheNumberOfKeys, MultipliedByTheRoot],
    ),
    Mistake(
        KeysNotTransposed,
        "`q @ k` pairs the width of the one with the *number* of the other. That crashes, or, where the two happen to "
        "be equal, gives nonsense. Look at the shapes on both sides of the `@`.",
        [
            "(n_query, d_k) @ (n_key, d_k): which two numbers have to be equal in a matrix product?",
            "Each key is a row of k. It should be a column on the right-hand side.",
            "Swap the last two axes of the keys: `k.mT`, or `k.transpose(-2, -1)`.",
        ],
    ),
    Mistake(
        WrongAxesOfTheKeys,
        "The wrong axes of the keys are swapped for the scores: the heads, or even the batch, do not stay where they "
        "are. Look at how the keys are transposed.",
        [
            "After the split, k has the shape (batch, n_heads, n_key, d_k). Which two axes are to change places?",
            "What is in front of the last two axes should not move.",
            "`k.mT`, or `k.transpose(-2, -1)`.",
        ],
        also=[AllAxesOfTheKeys],
    ),
    Mistake(
        NoSoftmax,
        "The values are mixed by raw scores: nothing makes the weights positive or lets them add up to 1, and hidden "
        "keys count −∞. A step is missing between scores and mixing, or what it gives is lost.",
        [
            "What should each row of the weights add up to?",
            "Which function turns a row of scores into weights?",
            "`weights = torch.softmax(scores, dim=-1)`, then `weights @ v`.",
        ],
    ),
    Mistake(
        InfinityTimesZero,
        "With a mask, everything is nan: -∞ is multiplied by 0 or comes after the softmax, or it is +∞ that is filled "
        "in. Look at where the infinity comes in.",
        [
            "What are `-torch.inf * 0`, the softmax of 1 and +∞, and a mixture of values with a weight of -∞?",
            "What has to be chosen, place by place, cannot be had by multiplying with infinity.",
            "`scores.masked_fill(~mask, -torch.inf)` fills without multiplying.",
        ],
    ),
    Mistake(
        MaskAsAnIndex,
        "Indexing with the mask needs one of just the shape of the scores. It crashes as soon as the mask has to be "
        "broadcast. Look for a function that broadcasts.",
        [
            "What shapes do the scores and the mask have in the case that crashes?",
            "`x[mask] = …` does not broadcast the mask. `masked_fill` does.",
            "`scores = scores.masked_fill(~mask, -torch.inf)`.",
        ],
    ),
    Mistake(
        MaskAskedForItsTruth,
        "Python's `if` asks whether a whole tensor is true, which has no answer. What matters is whether there is a "
        "mask at all. Look at the condition.",
        [
            "What does `bool(torch.tensor([True, False]))` say?",
            "Without a mask, `mask` is None, and nothing else is.",
            "`if mask is not None:`.",
        ],
    ),
    Mistake(
        OneBigHeadWithMasksAsTheyCome,
        "The projections are never split: this is one head as wide as the model, and a mask with an axis for the heads "
        "does not fit, or is not used. Look at where `n_heads` comes in.",
        [
            "How many tables of weights should there be for each sentence?",
            "Between the projections and the attention a step is missing.",
            "Split q, k and v into heads, and merge the heads afterwards.",
        ],
        also=[OneBigHeadWithoutMasks],
    ),
]
