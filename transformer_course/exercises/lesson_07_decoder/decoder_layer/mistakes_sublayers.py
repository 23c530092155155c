"""Mistakes in the inputs, the residual connections and the order of the sublayers."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_07_decoder.decoder_layer.answer import STEPS
from transformer_course.steps import Step

NOTHING_ADDED: dict[str, Step] = {
    "self_sum": lambda self_attended: self_attended,
    "cross_sum": lambda cross_attended: cross_attended,
    "network_sum": lambda network_output: network_output,
}
"""For each sublayer, the step without the residual connection."""


def causal(x):
    return torch.ones(x.shape[1], x.shape[1]).tril().bool()


def inverted(mask):
    return None if mask is None else ~mask


MISTAKES = [
    Mistake(
        "self_attention_to_the_memory",
        STEPS.but(self_inputs=lambda first_input, memory: (first_input, memory, memory)),
        summary="you pass the memory to the self-attention as keys and values",
        message=(
            "{summary}, so your target positions attend to the source. In *self*-attention, they should attend to "
            "each other. Which sequence should the keys and values come from?"
        ),
        hints=["With 2 target positions and a memory of 3, what shape should the weights of the self-attention have?"],
    ),
    Mistake(
        "too_few_arguments",
        STEPS.but(self_attended=lambda attentions, x: attentions[0](x)).attempt,
        STEPS.but(self_attended=lambda attentions, x, mask: attentions[0](x, mask)).attempt,
        STEPS.but(cross_inputs=lambda second_input, memory: (second_input, memory)).attempt,
        message=(
            "You pass too few arguments to an attention layer. It takes queries, keys and values, and then the mask, "
            "even if two of the first three are the same tensor. Which argument is missing?"
        ),
        hints=[
            "How do you call multi-head attention in lesson 03?",
            "Each of the two attentions needs queries, keys and values. Which sequence should each of them come from?",
            "The self-attention gets x three times, and then the mask.",
        ],
    ),
    Mistake(
        "cross_attention_to_itself",
        STEPS.but(cross_inputs=lambda second_input: (second_input, second_input, second_input)),
        STEPS.but(
            cross_inputs=lambda second_input: (second_input, second_input, second_input), cross_mask=lambda mask: mask
        ),
        summary="you take the keys and values of the cross-attention from the target",
        message="{summary}, so your layer never reads the memory. Which sequence should the keys and values come from?",
        hints=["Does your output change if the memory changes? Should it?"],
    ),
    Mistake(
        "the_memory_asks",
        STEPS.but(cross_inputs=lambda second_input, memory: (memory, second_input, second_input)),
        STEPS.but(cross_inputs=lambda memory, second_input: (memory, second_input, memory)).attempt,
        summary="you take the queries of the cross-attention from the memory",
        message=(
            "{summary}, so the cross-attention returns one row for each *source* position instead of each target "
            "position. Which sequence should the queries come from?"
        ),
        hints=["Does attention return one row for each query or one row for each key?"],
    ),
    Mistake(
        "the_input_asks_across",
        STEPS.but(cross_inputs=lambda x, memory: (x, memory, memory)),
        summary="you use the layer's input x as the queries of the cross-attention",
        message=(
            "{summary}, so the queries don't depend on the self-attention. In which variable do you store the output "
            "of `norm_1`?"
        ),
        hints=["Each sublayer starts from the result of the previous one. Where does your cross-attention start?"],
    ),
    Mistake(
        "causal_mask_across",
        STEPS.but(cross_mask=lambda mask: mask),
        summary="you pass `mask` to the cross-attention",
        message=(
            "{summary}, but `mask` describes which *target* positions may be attended to. The whole source is known "
            "from the start. Which mask describes the memory?"
        ),
        hints=["May the first word of a translation depend on the last word of the source?"],
    ),
    Mistake(
        "memory_mask_in_the_self_attention",
        STEPS.but(self_mask=lambda memory_mask: memory_mask),
        summary="you pass `memory_mask` to the self-attention",
        message=(
            "{summary}, so the padding of the source decides which *target* positions are hidden. Which mask "
            "describes the target?"
        ),
        hints=["In the scores of the self-attention, is each column a source position or a target position?"],
    ),
    Mistake(
        "masks_swapped",
        STEPS.but(self_mask=lambda memory_mask: memory_mask, cross_mask=lambda mask: mask),
        summary="you swap `mask` and `memory_mask`",
        message=(
            "{summary}, so your code crashes unless source and target happen to have the same length. Which attention "
            "needs which mask?"
        ),
        hints=[
            "For each mask, is a column a source position or a target position?",
            "The columns of a mask are keys: target positions in the self-attention, source positions in the "
            "cross-attention.",
            "The self-attention gets `mask`, and the cross-attention gets `memory_mask`.",
        ],
    ),
    Mistake(
        "a_mask_of_its_own",
        STEPS.but(self_mask=lambda x: causal(x)),
        STEPS.but(self_mask=lambda x, mask: causal(x) if mask is None else mask),
        summary="you make a causal mask inside the layer",
        message=(
            "{summary}. The caller decides which positions to hide: without `mask`, every position may attend to "
            "every other one. What should you pass to the self-attention when `mask` is None?"
        ),
        hints=[
            "With 3 tokens and no mask, may position 0 attend to position 2? Does it in your layer?",
        ],
    ),
    Mistake(
        "nothing_added",
        STEPS.but(**NOTHING_ADDED),
        summary="you leave out all residual connections",
        message=(
            "{summary}, so you replace the input of each sublayer with its output: if a sublayer returns 0, x is "
            "lost. What should you pass to each norm?"
        ),
        hints=[
            "If all sublayers return zeros, what is left of x?",
            "A residual connection adds the input of a sublayer to its output, before the norm.",
            "`self.norm_1(x + attended)`, and the same for the other two sublayers.",
        ],
    ),
    Mistake(
        "one_residual_around_everything",
        STEPS.but(**{**NOTHING_ADDED, "network_sum": lambda x, network_output: x + network_output}),
        summary="you add x once, around all three sublayers, instead of around each one",
        message=(
            "You use one residual connection around all three sublayers, so each norm before the last one gets a "
            "sublayer's output without its input. What should you pass to `norm_1` and `norm_2`?"
        ),
        hints=[
            "How many sums does the formula have? How many does your code have?",
            "Each sublayer has its own residual connection, before its norm.",
            "`self.norm_1(x + attended)`, and the same for the other two sublayers.",
        ],
    ),
    Mistake(
        "everything_added_to_the_input",
        STEPS.but(
            cross_sum=lambda x, cross_attended: x + cross_attended,
            network_sum=lambda x, network_output: x + network_output,
        ),
        summary="you add every sublayer's output to the layer's input",
        message=(
            "{summary}, so each sum leaves out the results of the earlier sublayers. In norm(a + sublayer(b)), a and "
            "b should be the same tensor. Which tensor is it in each sublayer?"
        ),
        hints=[
            "If the network returns only zeros, what is left of the two attentions in your output?",
            "Each sum starts from the input of its own sublayer.",
            "Assign each result to x, so that the next sublayer and its sum start from it.",
        ],
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
        summary="you run sublayers in parallel, on the same input",
        message=(
            "{summary}, so one sublayer can't use the result of another. What input should each sublayer start from?"
        ),
        hints=[
            "In your code, do the queries of the cross-attention depend on the other target tokens? Should they?",
            "The result of each sublayer is the input of the next one.",
            "Assign each result to x, so that the next sublayer and its sum start from it.",
        ],
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
        summary="you apply the cross-attention before the self-attention",
        message=(
            "{summary}, so each position queries the source before it has attended to the other target tokens. Which "
            "attention should come first?"
        ),
        hints=[
            "In your code, which target tokens influence the queries of the cross-attention?",
            "The order is self-attention, cross-attention, feed-forward network.",
            "Move the self-attention to the first line, and pass its result to the cross-attention.",
        ],
    ),
    Mistake(
        "feed_forward_between",
        STEPS.but(
            third_input=lambda self_normed: self_normed,
            second_input=lambda norms, network_sum: norms[1](network_sum),
            output=lambda norms, cross_sum: norms[2](cross_sum),
        ),
        summary="you apply the feed-forward network between the two attentions",
        message=(
            "{summary}, so the network never processes the output of the cross-attention. Which sublayer should come "
            "last?"
        ),
        hints=[
            "In your code, does the input of the feed-forward network depend on the source? Should it?",
            "The order is self-attention, cross-attention, feed-forward network.",
            "Move the feed-forward network to the last line.",
        ],
    ),
]
