"""Mistakes in which mask is for which attention."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_07_decoder.decoder_layer.answer import STEPS


def causal(x):
    return torch.ones(x.shape[1], x.shape[1]).tril().bool()


def inverted(mask):
    return None if mask is None else ~mask


def of_the_first_sentence(mask):
    return None if mask is None else mask[:1]


MISTAKES = [
    Mistake(
        "causal_mask_across",
        STEPS.but(cross_mask=lambda mask: mask),
        does="the cross-attention is given `mask`",
        says=(
            "The mask of the target is used for the cross-attention, too. It says which positions of the *target* may "
            "be attended to. The source is all there, from the first step on. Look at the masks."
        ),
        hints=["May the first word of a translation depend on the last word of the source?"],
    ),
    Mistake(
        "memory_mask_ignored",
        STEPS.but(cross_mask=lambda: None),
        does="the cross-attention is given no mask",
        says=(
            "The cross-attention has no mask: where the source is padded, the decoder reads the padding, too. Look at "
            "where `memory_mask` is used."
        ),
        hints=["Where does `memory_mask` occur in the code?"],
    ),
    Mistake(
        "masks_swapped",
        STEPS.but(self_mask=lambda memory_mask: memory_mask, cross_mask=lambda mask: mask),
        does="each attention is given the mask of the other",
        says=(
            "Each of the two attentions is given the mask that is meant for the other. It crashes, unless source and "
            "target happen to be equally long."
        ),
        hints=["What are the columns of each mask: positions of the source, or of the target?"],
    ),
    Mistake(
        "mask_ignored",
        STEPS.but(self_mask=lambda: None),
        does="the self-attention is given no mask",
        says=(
            "The self-attention has no mask: each position attends to those after it, and so to the tokens it should "
            "predict. Look at where `mask` is used."
        ),
        hints=["Where does `mask` occur in the code?"],
    ),
    Mistake(
        "mask_only_in_one_mode",
        STEPS.but(self_mask=lambda self, mask: mask if self.training else None),
        STEPS.but(cross_mask=lambda self, memory_mask: memory_mask if self.training else None).attempt,
        STEPS.but(self_mask=lambda self, mask: None if self.training else mask).attempt,
        does="a mask is used in only one of `train()` and `eval()`",
        says=(
            "A mask is used in only one of the two modes, `train()` and `eval()`. What may be attended to does not "
            "depend on the mode. Look at where it is read."
        ),
        hints=["Does the output change between `train()` and `eval()`? Nothing here is random."],
    ),
    Mistake(
        "memory_mask_in_the_self_attention",
        STEPS.but(self_mask=lambda memory_mask: memory_mask),
        does="the self-attention is given `memory_mask`",
        says=(
            "The mask of the source is used for the self-attention. It hides positions of the target by where the "
            "source has its padding. Look at the masks."
        ),
        hints=["What are the columns of the scores of the self-attention?"],
    ),
    *[
        Mistake(
            name,
            STEPS.but(**changes),
            does=f"{which} inverted",
            says=f"Read the wrong way round: {which} inverted. True means *may attend to*, for the attention as well.",
            hints=["Which meaning has True in this course, and which in `nn.MultiheadAttention`?"],
        )
        for name, which, changes in [
            ("mask_turned_round", "`mask` is", {"self_mask": lambda mask: inverted(mask)}),
            ("memory_mask_turned_round", "`memory_mask` is", {"cross_mask": lambda memory_mask: inverted(memory_mask)}),
            (
                "masks_turned_round",
                "both masks are",
                {
                    "self_mask": lambda mask: inverted(mask),
                    "cross_mask": lambda memory_mask: inverted(memory_mask),
                },
            ),
        ]
    ],
    Mistake(
        "a_mask_of_its_own",
        STEPS.but(self_mask=lambda x: causal(x)),
        STEPS.but(self_mask=lambda x, mask: causal(x) if mask is None else mask),
        STEPS.but(self_mask=lambda x, mask: causal(x) if mask is None else mask & causal(x)).attempt,
        does="the layer makes a causal mask of its own",
        says=(
            "{does}. The caller says what may be attended to, and without a mask everything may. Look at where the "
            "mask comes from."
        ),
        hints=["What should happen if `mask` is None?"],
    ),
    Mistake(
        "mask_of_the_first_sentence",
        STEPS.but(self_mask=lambda mask: of_the_first_sentence(mask)).attempt,
        STEPS.but(cross_mask=lambda memory_mask: of_the_first_sentence(memory_mask)),
        does="all sentences of the batch get the mask of the first",
        says=(
            "All sentences of the batch get the mask of the first one. Each may have padding at other positions. Look "
            "at how the masks are indexed."
        ),
        hints=["Which axis of the mask counts the sentences?"],
    ),
]
