"""Mistakes in what the two attentions are given, and in which of them is called where."""

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_07_decoder.decoder_layer.answer import STEPS


def first_of_two(found):
    first, _ = found
    return first


MISTAKES = [
    Mistake(
        "self_attention_to_the_memory",
        STEPS.but(self_inputs=lambda first_input, memory: (first_input, memory, memory)),
        STEPS.but(self_inputs=lambda first_input, memory: (first_input, first_input, memory)).attempt,
        STEPS.but(self_inputs=lambda memory: (memory, memory, memory)).attempt,
        STEPS.but(self_inputs=lambda first_input, memory: (memory, first_input, first_input)).attempt,
        does="the self-attention is given the memory",
        says=(
            "The first attention is given the memory. It is the *self*-attention, by which the positions of the target "
            "attend to each other. Look at its queries, keys and values."
        ),
        hints=["From which sequence do the queries, the keys and the values of a *self*-attention come?"],
    ),
    Mistake(
        "too_few_arguments",
        # alone only: each crashes, so that nothing else shows
        STEPS.but(self_attended=lambda attentions, x: attentions[0](x)).attempt,
        STEPS.but(self_attended=lambda attentions, x, mask: attentions[0](x, mask)).attempt,
        STEPS.but(self_attended=lambda attentions, x, mask: attentions[0](x, x, mask)).attempt,
        STEPS.but(cross_inputs=lambda second_input, memory: (second_input, memory)).attempt,
        says=(
            "An attention is given too little. It takes queries, keys and values, and then the mask, even where two of "
            "the first three are the same. Look at its arguments."
        ),
        hints=[
            "How is multi-head attention called in lesson 03?",
            "Each of the two attentions has queries, keys and values. Which sequence does each of the three come from?",
            "`self.self_attention(x, x, x, mask)`, and in the same form `self.cross_attention(x, memory, memory, "
            "memory_mask)`.",
        ],
    ),
    Mistake(
        "taken_for_a_pair",
        STEPS.but(self_attended=lambda self_attended: first_of_two(self_attended)).attempt,
        STEPS.but(self_attended=lambda self_attended: self_attended[0]).attempt,
        says=(
            "The output of an attention is taken for a pair of output and weights, as torch's own module returns. What "
            "is taken apart here is the batch."
        ),
        hints=[
            "What does the multi-head attention of lesson 03 return?",
            "`a, b = tensor` splits the first axis, and `tensor[0]` is its first entry.",
            "Take the output as it comes.",
        ],
    ),
    Mistake(
        "torchs_keyword",
        STEPS.but(self_attended=lambda attentions, x, mask: attentions[0](x, x, x, attn_mask=mask)).attempt,
        STEPS.but(
            cross_attended=lambda attentions, x, memory, memory_mask: attentions[1](
                x, memory, memory, memory_mask=memory_mask
            )
        ).attempt,
        says=(
            "An attention is called with a keyword that it does not have. That of lesson 03 takes its mask as the "
            "fourth argument, and calls it `mask`."
        ),
        hints=[
            "Which arguments does `forward` of the multi-head attention of lesson 03 have?",
            "`attn_mask` belongs to torch's own module, and `memory_mask` is a name of this layer alone.",
            "The mask is the fourth argument, without a name.",
        ],
    ),
    Mistake(
        "cross_attention_to_itself",
        STEPS.but(cross_inputs=lambda second_input: (second_input, second_input, second_input)),
        STEPS.but(cross_inputs=lambda second_input, x: (second_input, x, x)).attempt,
        does="the cross-attention takes its keys and values from the target",
    ),
    Mistake(
        "the_memory_asks",
        STEPS.but(cross_inputs=lambda second_input, memory: (memory, second_input, second_input)),
        STEPS.but(
            cross_inputs=lambda second_input, memory: (memory, second_input, second_input),
            cross_sum=lambda memory, cross_attended: memory + cross_attended,
        ).attempt,
        STEPS.but(cross_inputs=lambda memory, second_input: (memory, memory, second_input)).attempt,
        STEPS.but(cross_inputs=lambda memory: (memory, memory, memory)).attempt,
        STEPS.but(cross_inputs=lambda memory, second_input: (memory, second_input, memory)).attempt,
        does="the queries of the cross-attention come from the memory",
        says=(
            "The cross-attention takes its queries from the memory. Its output then has a row for each position of the "
            "source, not of the target. Look at which sequence is query, key and value."
        ),
        hints=["How many rows does an attention return: one for each query, or one for each key?"],
    ),
    Mistake(
        "the_input_asks_across",
        STEPS.but(cross_inputs=lambda x, memory: (x, memory, memory)),
        STEPS.but(cross_inputs=lambda self_attended, memory: (self_attended, memory, memory)).attempt,
        does="the queries of the cross-attention are not what `norm_1` returns",
        says=(
            "The queries of the cross-attention are not the result of the first sublayer, which is what `norm_1` "
            "returns. Look at the first argument of the cross-attention."
        ),
        hints=["Each sublayer goes on from the result of the one before. Is that so here?"],
    ),
    Mistake(
        "memory_normed",
        STEPS.but(memory=lambda memory, norms: norms[1](memory)),
        STEPS.but(memory=lambda memory, norms: norms[0](memory)).attempt,
        does="the memory is normalised by a norm of this layer",
        says=(
            "The memory is normalised on its way into the cross-attention, by a norm of this layer. The encoder "
            "returns it ready for use. Look at what the cross-attention is given."
        ),
        hints=["How many norms are used, and how often each?"],
    ),
    Mistake(
        "memory_cut",
        STEPS.but(memory=lambda memory, x: memory[:, : x.shape[1]]).attempt,
        does="the memory is cut to the length of the target",
        says="{does}: all else of the source is lost. Look at what the cross-attention is given.",
        hints=[
            "A target of 2 tokens and a source of 3: how many keys should there be?",
            "Queries and keys may differ in number; the scores are then a rectangle.",
            "Key and value are `memory`, whole.",
        ],
    ),
    Mistake(
        "one_attention_for_both",
        STEPS.but(attentions=lambda self: (self.self_attention, self.self_attention)),
        STEPS.but(attentions=lambda self: (self.cross_attention, self.cross_attention)).attempt,
        does="one of the two attentions is called in both sublayers",
        says=(
            "One attention is called in both sublayers, and the other in none. Each of the two has parameters of its "
            "own. Look at which is called where."
        ),
        hints=["After `(output * torch.randn_like(output)).sum().backward()`, whose parameters have no gradient?"],
    ),
    Mistake(
        "attentions_swapped",
        STEPS.but(attentions=lambda self: (self.cross_attention, self.self_attention)),
        does="`cross_attention` is called in the first sublayer and `self_attention` in the second",
        says=(
            "The two attentions are exchanged: `cross_attention` attends to the target, and `self_attention` to the "
            "memory. Newly made they do the same, but parameters loaded from elsewhere would be in the wrong one."
        ),
        hints=["Which of the two is called first?"],
    ),
]
