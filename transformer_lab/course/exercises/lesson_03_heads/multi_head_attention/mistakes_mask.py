"""Mistakes in what becomes of the mask."""

import torch

from transformer_lab.course.exercise import Mistake
from transformer_lab.course.exercises.lesson_03_heads.multi_head_attention.mistake_template import InPieces


class MaskIgnored(InPieces):
    def weights(self, scores, mask):
        return torch.softmax(scores, dim=-1)


class MaskOnlyInTraining(InPieces):
    def weights(self, scores, mask):
        return super().weights(scores, mask if self.training else None)


class MaskTakenForGranted(InPieces):
    def weights(self, scores, mask):
        return torch.softmax(scores.masked_fill(~mask, -torch.inf), dim=-1)


class MaskAskedForItsTruth(InPieces):
    def weights(self, scores, mask):
        return super().weights(scores, mask if mask else None)


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


class InfinityTimesZero(InPieces):
    def weights(self, scores, mask):
        return torch.softmax(scores if mask is None else scores + ~mask * -torch.inf, dim=-1)


class MaskAsAnIndex(InPieces):
    def weights(self, scores, mask):
        if mask is not None:
            scores[~mask] = -torch.inf
        return torch.softmax(scores, dim=-1)


class MaskGivenAnotherAxis(InPieces):
    def weights(self, scores, mask):
        return super().weights(scores, None if mask is None else mask.unsqueeze(1))


MISTAKES = [
    Mistake(
        "mask_ignored",
        [MaskIgnored],
        says=(
            "All is right as long as there is no mask. With one, hidden keys still get weight: `mask` is not used, or "
            "what is made with it is lost."
        ),
        hints=[
            "Where does `mask` occur in the code, and is what comes out of that used?",
            "Where the mask is False, the score is to be −∞.",
            "`scores.masked_fill(~mask, -torch.inf)` gives a new tensor; keep what it returns.",
        ],
    ),
    Mistake(
        "mask_only_in_training",
        [MaskOnlyInTraining],
        says=(
            "The mask acts in `train()` and not in `eval()`. It belongs to the model: what is hidden while it learns "
            "must be hidden when it is used. Look at where the mode comes in."
        ),
        hints=[
            "Does the output change between `train()` and `eval()`? Nothing here is random.",
            "Where does `self.training` occur in the code?",
            "Let the mask act whenever it is not None, whatever the mode.",
        ],
    ),
    Mistake(
        "mask_taken_for_granted",
        [MaskTakenForGranted],
        says=(
            "It crashes as soon as there is no mask: `mask` is then None, and None cannot be turned round. Look at "
            "what happens to the scores in that case."
        ),
        hints=[
            "What is `mask` if nobody gives one?",
            "Without a mask, the scores stay as they are.",
            "`if mask is not None:` before the filling.",
        ],
    ),
    Mistake(
        "mask_asked_for_its_truth",
        [MaskAskedForItsTruth],
        says=(
            "Python's `if` asks whether a whole tensor is true, which has no answer. What matters is whether there is "
            "a mask at all. Look at the condition."
        ),
        hints=[
            "What does `bool(torch.tensor([True, False]))` say?",
            "Without a mask, `mask` is None, and nothing else is.",
            "`if mask is not None:`.",
        ],
    ),
    Mistake(
        "mask_inverted",
        [MaskInverted],
        says="The mask is read the wrong way round: the weights lie exactly where none should. True means *may look*.",
        hints=[
            "Which scores are to become −∞: those where the mask is True, or those where it is False?",
            "`masked_fill` fills where its first argument is True.",
            "`~mask` turns a mask round.",
        ],
    ),
    Mistake(
        "mask_after_the_softmax",
        [MaskAfterTheSoftmax],
        says=(
            "Hidden keys get no weight, but the weights that are left no longer add up to 1: the mask comes after the "
            "softmax. Look at the order of the two."
        ),
        hints=[
            "Print the row sums of the weights with a mask.",
            "Had the hidden keys never been there, what would the rows add up to?",
            "Fill the *scores*, before the softmax.",
        ],
    ),
    Mistake(
        "filled_with_zero",
        [FilledWithZero],
        says=(
            "Hidden keys still get weight: a score of 0 is a score like any other, and e⁰ = 1. Look at what the hidden "
            "scores are filled with."
        ),
        hints=[
            "Which score gives a weight of exactly 0?",
            "e to what is 0?",
            "`-torch.inf`.",
        ],
    ),
    Mistake(
        "mask_added",
        [MaskAdded],
        says=(
            "The mask is added to the scores, where True counts as 1 and False as 0: hidden keys get somewhat less "
            "weight, but not none. Look at what happens to a hidden score."
        ),
        hints=[
            "Which score gives a weight of exactly 0?",
            "A mask of True and False says where to fill, not what to add.",
            "`masked_fill`, with −∞, where the mask is False.",
        ],
    ),
    Mistake(
        "infinity_times_zero",
        [InfinityTimesZero],
        says=(
            "With a mask, everything is nan: -∞ is multiplied by 0 or comes after the softmax, or it is +∞ that is "
            "filled in. Look at where the infinity comes in."
        ),
        hints=[
            "What are `-torch.inf * 0`, the softmax of 1 and +∞, and a mixture of values with a weight of -∞?",
            "What has to be chosen, place by place, cannot be had by multiplying with infinity.",
            "`scores.masked_fill(~mask, -torch.inf)` fills without multiplying.",
        ],
    ),
    Mistake(
        "mask_as_an_index",
        [MaskAsAnIndex],
        says=(
            "Indexing with the mask needs one of just the shape of the scores. It crashes as soon as the mask has to "
            "be broadcast. Look for a function that broadcasts."
        ),
        hints=[
            "What shapes do the scores and the mask have in the case that crashes?",
            "`x[mask] = …` does not broadcast the mask. `masked_fill` does.",
            "`scores = scores.masked_fill(~mask, -torch.inf)`.",
        ],
    ),
    Mistake(
        "mask_given_another_axis",
        [MaskGivenAnotherAxis],
        says=(
            "The mask is given one axis more than it has. It comes ready to be broadcast to (batch, n_heads, n_query, "
            "n_key). Look at what happens to its shape."
        ),
        hints=[
            "Which shapes have the masks of the cases, and which after the new axis?",
            "Axes that are missing in front, or are 1 long, are stretched by themselves.",
            "Use the mask as it comes, without `unsqueeze` or `None`.",
        ],
    ),
]
