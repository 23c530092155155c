"""Mistakes in what the sublayers are given, in what is added to what, and in the order of all."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_07_decoder.decoder_layer.answer import STEPS
from transformer_course.steps import Step

NOTHING_ADDED: dict[str, Step] = {
    "self_sum": lambda self_attended: self_attended,
    "cross_sum": lambda cross_attended: cross_attended,
    "network_sum": lambda network_output: network_output,
}
"""Each sublayer without its residual connection."""


def causal(x):
    return torch.ones(x.shape[1], x.shape[1]).tril().bool()


def inverted(mask):
    return None if mask is None else ~mask


MISTAKES = [
    Mistake(
        "self_attention_to_the_memory",
        STEPS.but(self_inputs=lambda first_input, memory: (first_input, memory, memory)),
        summary="the self-attention is given the memory",
        message=(
            "The first attention is given the memory. It is the *self*-attention, by which the positions of the target "
            "attend to each other. Look at its queries, keys and values."
        ),
        hints=["From which sequence do the queries, the keys and the values of a *self*-attention come?"],
    ),
    Mistake(
        "too_few_arguments",
        STEPS.but(self_attended=lambda attentions, x: attentions[0](x)).attempt,
        STEPS.but(self_attended=lambda attentions, x, mask: attentions[0](x, mask)).attempt,
        STEPS.but(cross_inputs=lambda second_input, memory: (second_input, memory)).attempt,
        message=(
            "An attention is given too little. It takes queries, keys and values, and then the mask, even where two of "
            "the first three are the same. Look at its arguments."
        ),
        hints=[
            "How is multi-head attention called in lesson 03?",
            "Each of the two attentions has queries, keys and values. Which sequence does each of the three come from?",
            "The self-attention gets x three times, and then the mask.",
        ],
    ),
    Mistake(
        "cross_attention_to_itself",
        STEPS.but(cross_inputs=lambda second_input: (second_input, second_input, second_input)),
        summary="the cross-attention takes its keys and values from the target",
    ),
    Mistake(
        "the_memory_asks",
        STEPS.but(cross_inputs=lambda second_input, memory: (memory, second_input, second_input)),
        STEPS.but(cross_inputs=lambda memory, second_input: (memory, second_input, memory)).attempt,
        summary="the queries of the cross-attention come from the memory",
        message=(
            "The cross-attention takes its queries from the memory. Its output then has a row for each position of the "
            "source, not of the target. Look at which sequence is query, key and value."
        ),
        hints=["How many rows does an attention return: one for each query, or one for each key?"],
    ),
    Mistake(
        "the_input_asks_across",
        STEPS.but(cross_inputs=lambda x, memory: (x, memory, memory)),
        summary="the queries of the cross-attention are not what `norm_1` returns",
        message=(
            "The queries of the cross-attention are not the result of the first sublayer, which is what `norm_1` "
            "returns. Look at the first argument of the cross-attention."
        ),
        hints=["Each sublayer goes on from the result of the one before. Is that so here?"],
    ),
    Mistake(
        "causal_mask_across",
        STEPS.but(cross_mask=lambda mask: mask),
        summary="the cross-attention is given `mask`",
        message=(
            "The mask of the target is used for the cross-attention, too. It says which positions of the *target* may "
            "be attended to. The source is all there, from the first step on. Look at the masks."
        ),
        hints=["May the first word of a translation depend on the last word of the source?"],
    ),
    Mistake(
        "memory_mask_in_the_self_attention",
        STEPS.but(self_mask=lambda memory_mask: memory_mask),
        summary="the self-attention is given `memory_mask`",
        message="{summary}: it hides positions of the target by where the source has its padding. Look at the masks.",
        hints=["What are the columns of the scores of the self-attention?"],
    ),
    Mistake(
        "masks_swapped",
        STEPS.but(self_mask=lambda memory_mask: memory_mask, cross_mask=lambda mask: mask),
        summary="each attention is given the mask of the other",
        message="{summary}. It crashes, unless source and target happen to be equally long.",
        hints=["What are the columns of each mask: positions of the source, or of the target?"],
    ),
    Mistake(
        "a_mask_of_its_own",
        STEPS.but(self_mask=lambda x: causal(x)),
        STEPS.but(self_mask=lambda x, mask: causal(x) if mask is None else mask),
        summary="the layer makes a causal mask of its own",
        message=(
            "{summary}. The caller says what may be attended to, and without a mask everything may. Look at where the "
            "mask comes from."
        ),
        hints=["What should happen if `mask` is None?"],
    ),
    Mistake(
        "nothing_added",
        STEPS.but(**NOTHING_ADDED),
        summary="no sublayer has a residual connection",
        message="{summary}: the output of each sublayer replaces its input, instead of being added to it.",
        hints=["What is left of x if a sublayer returns nothing but zeros?"],
    ),
    Mistake(
        "one_residual_around_everything",
        STEPS.but(**{**NOTHING_ADDED, "network_sum": lambda x, network_output: x + network_output}),
        summary="there is one residual connection around all three sublayers, and none around each",
        hints=["Where in the code is something added, and how often?"],
    ),
    Mistake(
        "everything_added_to_the_input",
        STEPS.but(
            cross_sum=lambda x, cross_attended: x + cross_attended,
            network_sum=lambda x, network_output: x + network_output,
        ),
        summary="each sublayer's output is added to the layer's input",
        message=(
            "All residual connections begin at the layer's input. In norm(a + sublayer(b)), a and b should be the "
            "same: an older a lacks what the sublayers in between have added. Look at each sum."
        ),
        hints=["With a network that returns only zeros, what is left of the attentions?"],
    ),
    Mistake(
        "sublayers_side_by_side",
        STEPS.but(
            second_input=lambda x: x,
            cross_sum=lambda x, self_attended, cross_attended: x + self_attended + cross_attended,
        ),
        STEPS.but(
            second_input=lambda x: x, third_input=lambda self_normed, cross_normed: self_normed + cross_normed
        ).attempt,
        summary="sublayers work side by side, on the same input",
        message="{summary}. They should come one after the other: each goes on from the result of the one before.",
        hints=["What does the cross-attention know about the tokens before?"],
    ),
    Mistake(
        "cross_attention_first",
        STEPS.but(
            second_input=lambda x: x,
            first_input=lambda cross_normed: cross_normed,
            third_input=lambda self_normed: self_normed,
        ),
        STEPS.but(
            second_input=lambda x: x,
            first_input=lambda cross_normed: cross_normed,
            third_input=lambda self_normed: self_normed,
            norms=lambda norms: (norms[1], norms[0], norms[2]),
        ),
        summary="the cross-attention comes before the self-attention",
        message=(
            "{summary}. A position should first find out what the target says so far, and then look for something in "
            "the source. Look at the order."
        ),
        hints=["What could a position look for that knows only its own token?"],
    ),
    Mistake(
        "feed_forward_between",
        STEPS.but(
            third_input=lambda self_normed: self_normed,
            second_input=lambda norms, network_sum: norms[1](network_sum),
            output=lambda norms, cross_sum: norms[2](cross_sum),
        ),
        summary="the feed-forward network comes between the two attentions",
        message="{summary}. It should come last, and use what both have found. Look at the order.",
        hints=["What does the network know when it comes before the cross-attention?"],
    ),
]
