"""Mistakes in what each head does: scores, softmax and masks, and what is returned."""

import torch
from torch import nn

from transformer_lab.course.exercise import Mistake
from transformer_lab.course.exercises.heads.mistakes.in_pieces import InPieces


class ScaledByTheModelsWidth(InPieces):
    def scores(self, q, k):
        return q @ k.mT / (q.shape[-1] * self.n_heads) ** 0.5


class NotScaled(InPieces):
    def scores(self, q, k):
        return q @ k.mT


class DividedByTheWidth(InPieces):
    def scores(self, q, k):
        return q @ k.mT / q.shape[-1]


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


class MaskIgnored(InPieces):
    def weights(self, scores, mask):
        return torch.softmax(scores, dim=-1)


class MaskOnlyInTraining(InPieces):
    def weights(self, scores, mask):
        return super().weights(scores, mask if self.training else None)


class MaskTakenForGranted(InPieces):
    def weights(self, scores, mask):
        return torch.softmax(scores.masked_fill(~mask, -torch.inf), dim=-1)


class MaskInverted(InPieces):
    def weights(self, scores, mask):
        return super().weights(scores, None if mask is None else ~mask)


class MaskAfterTheSoftmax(InPieces):
    def weights(self, scores, mask):
        weights = torch.softmax(scores, dim=-1)
        return weights if mask is None else weights * mask


class FilledWithZero(InPieces):
    def weights(self, scores, mask):
        return torch.softmax(scores if mask is None else scores.masked_fill(~mask, 0.0), dim=-1)


class MaskAdded(InPieces):
    def weights(self, scores, mask):
        return torch.softmax(scores if mask is None else scores + mask, dim=-1)


class MaskGivenAnotherAxis(InPieces):
    def weights(self, scores, mask):
        return super().weights(scores, None if mask is None else mask.unsqueeze(1))


class WeightsReturnedToo(InPieces):
    def forward(self, query, key, value, mask=None):
        q, k, v = (self.split(x) for x in self.project(query, key, value))
        weights = self.weights(self.scores(q, k), mask)
        return self.w_o(self.merge(weights @ v)), weights


class InputAdded(InPieces):
    def forward(self, query, key, value, mask=None):
        return query + super().forward(query, key, value, mask)


class WeightsDropped(InPieces):
    def weights(self, scores, mask):
        return nn.functional.dropout(super().weights(scores, mask), 0.1)


MISTAKES = [
    Mistake(
        ScaledByTheModelsWidth,
        "The scores are divided by the root of d_model. A score adds up only d_k products, so this makes the "
        "weights too even. Look at which width is taken.",
        [
            "How many products are added up in one score of one head?",
            "After the split, d_model is not the width of anything any more.",
            "√d_k, where d_k is `q.shape[-1]` after the split.",
        ],
    ),
    Mistake(
        NotScaled,
        "The scores are not divided by √d_k: the weights are too sharp. Lesson 02 says what that does.",
        [
            "What stands in the formula of attention besides Q, K and V?",
            "Where does the root of d_k come in?",
            "Divide the scores by `q.shape[-1] ** 0.5`, taken after the split.",
        ],
    ),
    Mistake(
        DividedByTheWidth,
        "The scores are divided by d_k: the weights are too even. Look at the formula of attention once more.",
        [
            "By what should the scores be divided?",
            "Dividing by c divides the variance by c².",
            "By the *root* of d_k.",
        ],
    ),
    Mistake(
        SoftmaxOverQueries,
        "The weights add up to 1 over the queries instead of over the keys. Look at the axis of the softmax.",
        [
            "The scores have the shape (batch, n_heads, n_query, n_key). Which axis are the keys?",
            "Each query hands out one unit of attention, in each head.",
            "`dim=-1`.",
        ],
    ),
    Mistake(
        SoftmaxOverHeads,
        "The weights add up to 1 over the heads: they compete with one another, and with a single head every "
        "weight is 1. Look at the axis of the softmax.",
        [
            "The scores have the shape (batch, n_heads, n_query, n_key). Which axis is number 1?",
            "Count from the end, and a new axis in front does no harm.",
            "`dim=-1`.",
        ],
    ),
    Mistake(
        MaskIgnored,
        "All is right as long as there is no mask. With one, hidden keys still get weight: `mask` is not used, or what "
        "is made with it is lost.",
        [
            "Where does `mask` occur in the code, and is what comes out of that used?",
            "Where the mask is False, the score is to be −∞.",
            "`scores.masked_fill(~mask, -torch.inf)` gives a new tensor; keep what it returns.",
        ],
    ),
    Mistake(
        MaskOnlyInTraining,
        "The mask acts in `train()` and not in `eval()`. It belongs to the model: what is hidden while it learns must "
        "be hidden when it is used. Look at where the mode comes in.",
        [
            "Does the output change between `train()` and `eval()`? Nothing here is random.",
            "Where does `self.training` occur in the code?",
            "Let the mask act whenever it is not None, whatever the mode.",
        ],
    ),
    Mistake(
        MaskTakenForGranted,
        "It crashes as soon as there is no mask: `mask` is then None, and None cannot be turned round. Look at what "
        "happens to the scores in that case.",
        [
            "What is `mask` if nobody gives one?",
            "Without a mask, the scores stay as they are.",
            "`if mask is not None:` before the filling.",
        ],
    ),
    Mistake(
        MaskInverted,
        "The mask is read the wrong way round: the weights lie exactly where none should. True means *may look*.",
        [
            "Which scores are to become −∞: those where the mask is True, or those where it is False?",
            "`masked_fill` fills where its first argument is True.",
            "`~mask` turns a mask round.",
        ],
    ),
    Mistake(
        MaskAfterTheSoftmax,
        "Hidden keys get no weight, but the weights that are left no longer add up to 1: the mask comes after the "
        "softmax. Look at the order of the two.",
        [
            "Print the row sums of the weights with a mask.",
            "Had the hidden keys never been there, what would the rows add up to?",
            "Fill the *scores*, before the softmax.",
        ],
    ),
    Mistake(
        FilledWithZero,
        "Hidden keys still get weight: a score of 0 is a score like any other, and e⁰ = 1. Look at what the hidden "
        "scores are filled with.",
        [
            "Which score gives a weight of exactly 0?",
            "e to what is 0?",
            "`-torch.inf`.",
        ],
    ),
    Mistake(
        MaskAdded,
        "The mask is added to the scores, where True counts as 1 and False as 0: hidden keys get somewhat less "
        "weight, but not none. Look at what happens to a hidden score.",
        [
            "Which score gives a weight of exactly 0?",
            "A mask of True and False says where to fill, not what to add.",
            "`masked_fill`, with −∞, where the mask is False.",
        ],
    ),
    Mistake(
        MaskGivenAnotherAxis,
        "The mask is given one axis more than it has. It comes ready to be broadcast to (batch, n_heads, n_query, "
        "n_key). Look at what happens to its shape.",
        [
            "Which shapes have the masks of the cases, and which after the new axis?",
            "Axes that are missing in front, or are 1 long, are stretched by themselves.",
            "Use the mask as it comes, without `unsqueeze` or `None`.",
        ],
    ),
    Mistake(
        WeightsReturnedToo,
        "The output is right, but the weights are returned as well. Only the output is asked for.",
        [
            "How many things does the annotation say are returned?",
            "Whoever calls it would get a tuple.",
            "Return the output alone.",
        ],
    ),
    Mistake(
        InputAdded,
        "The queries are added to the output. Such a connection comes in lesson 06, around the attention, not "
        "inside it.",
        [
            "What comes after w_o in the formula?",
            "Is there a `+ query` in the code?",
            "Return what w_o gives.",
        ],
    ),
    Mistake(
        WeightsDropped,
        "Some weights are dropped at random, in evaluation too, so that two calls give two results. There is no "
        "dropout in this exercise.",
        [
            "Where does chance come in?",
            "`F.dropout` drops always, unless it is told that nobody is training.",
            "Leave the dropout out.",
        ],
    ),
]
