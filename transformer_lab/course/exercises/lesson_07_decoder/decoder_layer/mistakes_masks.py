"""Mistakes in which mask is for which attention."""

import torch

from transformer_lab.course.exercise import Mistake
from transformer_lab.course.exercises.lesson_07_decoder.decoder_layer.mistake_template import InPieces


class CausalMaskAcross(InPieces):
    def across(self, x, memory, mask, memory_mask):
        return self.cross_attention(x, memory, memory, mask)


class MemoryMaskIgnored(InPieces):
    def across(self, x, memory, mask, memory_mask):
        return self.cross_attention(x, memory, memory)


class MasksSwapped(InPieces):
    def back(self, x, memory, mask, memory_mask):
        return self.self_attention(x, x, x, memory_mask)

    def across(self, x, memory, mask, memory_mask):
        return self.cross_attention(x, memory, memory, mask)


class MaskIgnored(InPieces):
    def back(self, x, memory, mask, memory_mask):
        return self.self_attention(x, x, x)


class MaskOnlyInTraining(InPieces):
    def back(self, x, memory, mask, memory_mask):
        return super().back(x, memory, mask if self.training else None, memory_mask)


class BothMasksIgnored(MaskIgnored, MemoryMaskIgnored):
    pass


class MemoryMaskForBoth(InPieces):
    def back(self, x, memory, mask, memory_mask):
        return self.self_attention(x, x, x, memory_mask)


class MasksTurnedRound(InPieces):
    def back(self, x, memory, mask, memory_mask):
        return super().back(x, memory, None if mask is None else ~mask, memory_mask)

    def across(self, x, memory, mask, memory_mask):
        return super().across(x, memory, mask, None if memory_mask is None else ~memory_mask)


class MaskTurnedRound(InPieces):
    def back(self, x, memory, mask, memory_mask):
        return super().back(x, memory, None if mask is None else ~mask, memory_mask)


class MemoryMaskTurnedRound(InPieces):
    def across(self, x, memory, mask, memory_mask):
        return super().across(x, memory, mask, None if memory_mask is None else ~memory_mask)


class AMaskOfItsOwn(InPieces):
    def back(self, x, memory, mask, memory_mask):
        return self.self_attention(x, x, x, torch.ones(x.shape[1], x.shape[1]).tril().bool())


class AMaskOfItsOwnIfNoneIsGiven(InPieces):
    def back(self, x, memory, mask, memory_mask):
        if mask is None:
            mask = torch.ones(x.shape[1], x.shape[1]).tril().bool()
        return self.self_attention(x, x, x, mask)


class AMaskOfItsOwnToo(InPieces):
    def back(self, x, memory, mask, memory_mask):
        causal = torch.ones(x.shape[1], x.shape[1]).tril().bool()
        return self.self_attention(x, x, x, causal if mask is None else mask & causal)


MISTAKES = [
    Mistake(
        "causal_mask_across",
        [CausalMaskAcross],
        says=(
            "The causal mask is used for the cross-attention, too. It says which *target* positions may be looked at. The "
            "source is all there, from the first step on. Look at the masks."
        ),
        hints=[
            "May the first word of a translation depend on the last word of the source?",
            "There are two masks. Which of them is about the source?",
            "The last argument of the cross-attention is `memory_mask`.",
        ],
    ),
    Mistake(
        "memory_mask_ignored",
        [MemoryMaskIgnored],
        says=(
            "All is right as long as the source has no padding. With some, the decoder reads it as if it meant something: "
            "`memory_mask` is not used."
        ),
        hints=[
            "Where does `memory_mask` occur in the code?",
            "It hides keys, and the keys of which attention come from the source?",
            "It is the last argument of the cross-attention.",
        ],
    ),
    Mistake(
        "masks_swapped",
        [MasksSwapped],
        says=(
            "The two masks have changed places: the one for the source hides target positions, and the other way round. It "
            "crashes, unless the two happen to be equally long."
        ),
        hints=[
            "What are the columns of each mask: positions of the source, or of what was written?",
            "A mask hides keys. Where do the keys of each attention come from?",
            "`mask` is for the self-attention, `memory_mask` for the cross-attention.",
        ],
    ),
    Mistake(
        "mask_ignored",
        [MaskIgnored],
        says=(
            "The self-attention is not masked: each position sees those that come later, and with them what it should "
            "say. Look at where `mask` is used."
        ),
        hints=[
            "Where does `mask` occur in the code?",
            "Which attention looks at what was written?",
            "It is the last argument of the self-attention.",
        ],
    ),
    Mistake(
        "mask_only_in_training",
        [MaskOnlyInTraining],
        says=(
            "The self-attention is masked in `train()` and not in `eval()`. With several layers, that is another model: "
            "earlier positions then hand on what they have seen of later ones. Look at where the mode comes in."
        ),
        hints=[
            "Does the output change between `train()` and `eval()`? Nothing here is random.",
            "Where does `self.training` occur in the code?",
            "Hand `mask` on as it is, whatever the mode.",
        ],
    ),
    Mistake(
        "both_masks_ignored",
        [BothMasksIgnored],
        says=(
            "Without masks it is right; but neither `mask` nor `memory_mask` is used. So each position sees those that "
            "come later, and padding of the source."
        ),
        hints=[
            "Where do the two masks occur in the code?",
            "Each of them hides keys of one of the two attentions.",
            "`mask` is for the self-attention, `memory_mask` for the cross-attention.",
        ],
    ),
    Mistake(
        "memory_mask_for_both",
        [MemoryMaskForBoth],
        says=(
            "The mask of the source is used for the self-attention as well. It hides positions of what was written by "
            "where the source has its padding. Look at the masks."
        ),
        hints=[
            "What are the columns of the scores of the self-attention?",
            "Which of the two masks is about what was written?",
            "The last argument of the self-attention is `mask`.",
        ],
    ),
    Mistake(
        "masks_turned_round",
        [MasksTurnedRound, MaskTurnedRound, MemoryMaskTurnedRound],
        says=(
            "A mask is read the wrong way round. True means *may look*, and so does it for the attention that it is handed "
            "to."
        ),
        hints=[
            "Which meaning has True in this course, and which in `nn.MultiheadAttention`?",
            "Is there a `~` in the code?",
            "Hand the masks on as they are.",
        ],
    ),
    Mistake(
        "a_mask_of_its_own",
        [AMaskOfItsOwn, AMaskOfItsOwnIfNoneIsGiven, AMaskOfItsOwnToo],
        says=(
            "The layer makes a causal mask of its own. Whoever calls it says what may be looked at, and without a mask "
            "everything may. Look at where the mask comes from."
        ),
        hints=[
            "What should happen if `mask` is None?",
            "A model that writes step by step may need another mask than one that trains.",
            "Hand `mask` on as it is.",
        ],
    ),
]
