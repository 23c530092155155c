"""Mistakes in what is added to what, in which order the sublayers come, and in what is returned."""

from torch.nn import functional as F

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_07_decoder.decoder_layer.answer import STEPS
from transformer_course.steps import Step

ZEROS = "What is left of x if a sublayer returns nothing but zeros?"
THREE_TIMES = "x becomes norm(x + sublayer(x)), three times."
CALL_IT_X = "Call the result of each line `x` again, and no older one can be taken."
NOTHING_ADDED: dict[str, Step] = {
    "self_sum": lambda self_attended: self_attended,
    "cross_sum": lambda cross_attended: cross_attended,
    "network_sum": lambda network_output: network_output,
}
"""Each sublayer without its residual connection."""


def nothing_added(name, step, sublayer):
    """Leave out the residual connection of one of the sublayers."""
    return Mistake(
        name,
        STEPS.but(**{step: NOTHING_ADDED[step]}),
        does=f"the {sublayer} has no residual connection",
        says=(
            f"A residual connection is missing: the output of the {sublayer} replaces its input, and is not added "
            "to it."
        ),
        hints=[ZEROS],
    )


def wrong_residual(name, ways, does, says):
    """Add the output of a sublayer to what is not its input."""
    hints = [
        "With a network that returns only zeros, what is left of the attentions?",
        "In x + f(x), the two x are the same.",
        CALL_IT_X,
    ]
    return Mistake(name, *ways, does=does, says=says, hints=hints)


def wrong_input(name, change, does):
    """Give the network what it is not to read."""
    return Mistake(
        name,
        STEPS.but(network_output=change),
        does=does,
        says=f"{does[0].upper()}{does[1:]}, which is not what its output is added to. Look at its argument.",
        hints=["Which variable does the network read, and to which is its output added?"],
    )


def dropped(self, found):
    return F.dropout(found, 0.1, self.training)


MISTAKES = [
    nothing_added("nothing_added_to_self_attention", "self_sum", "self-attention"),
    nothing_added("nothing_added_to_cross_attention", "cross_sum", "cross-attention"),
    nothing_added("nothing_added_to_feed_forward", "network_sum", "feed-forward network"),
    Mistake(
        "nothing_added",
        STEPS.but(**NOTHING_ADDED),
        does="no sublayer has a residual connection",
        says=(
            "The residual connections are missing: the output of each sublayer replaces its input, instead of being "
            "added to it."
        ),
        hints=[ZEROS],
    ),
    Mistake(
        "differences_instead_of_sums",
        STEPS.but(
            self_sum=lambda first_input, self_attended: first_input - self_attended,
            cross_sum=lambda second_input, cross_attended: second_input - cross_attended,
            network_sum=lambda third_input, network_output: third_input - network_output,
        ),
        STEPS.but(self_sum=lambda first_input, self_attended: first_input - self_attended).attempt,
        STEPS.but(cross_sum=lambda second_input, cross_attended: second_input - cross_attended).attempt,
        STEPS.but(network_sum=lambda third_input, network_output: third_input - network_output).attempt,
        does="a sublayer's output is subtracted from its input, not added",
        says="A sublayer's output is subtracted from its input. A residual connection adds. Look for a minus.",
        hints=["If a sublayer returns only ones, do the numbers get larger?"],
    ),
    Mistake(
        "one_residual_around_everything",
        STEPS.but(**{**NOTHING_ADDED, "network_sum": lambda x, network_output: x + network_output}),
        STEPS.but(**NOTHING_ADDED, output=lambda x, output: x + output).attempt,
        does="there is one residual connection around all three sublayers, and none around each",
        says=(
            "There is only one residual connection, from the layer's input to its end. Each of the three sublayers "
            "should have one of its own."
        ),
        hints=["Where in the code is something added, and how often?"],
    ),
    Mistake(
        "added_twice",
        STEPS.but(
            self_normed=lambda first_input, self_normed: first_input + self_normed,
            cross_normed=lambda second_input, cross_normed: second_input + cross_normed,
            output=lambda third_input, output: third_input + output,
        ),
        STEPS.but(output=lambda third_input, output: third_input + output).attempt,
        STEPS.but(output=lambda x, output: x + output).attempt,
        does="something is added once more after a norm",
        says=(
            "Something is added once more to what a norm returns. The result of the layer has then not just been "
            "normalised. Look at what is outside the brackets of each norm."
        ),
        hints=["How many sums does each line have?"],
    ),
    wrong_residual(
        "feed_forward_added_to_self_attention",
        [STEPS.but(network_sum=lambda second_input, network_output: second_input + network_output)],
        "the network's output is added to the result of the first sublayer",
        "A residual connection begins too early. In norm(a + sublayer(b)), a and b should be the same: an older a "
        "lacks what a sublayer in between has added. Look at each sum.",
    ),
    wrong_residual(
        "feed_forward_added_to_the_input",
        [STEPS.but(network_sum=lambda x, network_output: x + network_output)],
        "the network's output is added to the layer's input",
        "The last residual connection begins at the layer's input, so that what both attentions have added is lost. "
        "In norm(a + sublayer(b)), a and b should be the same. Look at each sum.",
    ),
    wrong_residual(
        "cross_attention_added_to_the_input",
        [STEPS.but(cross_sum=lambda x, cross_attended: x + cross_attended)],
        "the output of the cross-attention is added to the layer's input",
        "The second residual connection begins at the layer's input, so that what the self-attention has added is "
        "lost. In norm(a + sublayer(b)), a and b should be the same. Look at each sum.",
    ),
    wrong_residual(
        "everything_added_to_the_input",
        [
            STEPS.but(
                cross_sum=lambda x, cross_attended: x + cross_attended,
                network_sum=lambda x, network_output: x + network_output,
            )
        ],
        "each sublayer's output is added to the layer's input",
        "All residual connections begin at the layer's input. In norm(a + sublayer(b)), a and b should be the same: an "
        "older a lacks what the sublayers in between have added. Look at each sum.",
    ),
    wrong_residual(
        "added_to_the_output_before",
        [
            STEPS.but(cross_sum=lambda self_attended, cross_attended: self_attended + cross_attended).attempt,
            STEPS.but(network_sum=lambda cross_attended, network_output: cross_attended + network_output),
        ],
        "the output of a sublayer is added to the bare output of an attention",
        "The output of one sublayer is added to the bare output of another, which has no sum and no norm around it. "
        "Look at each sum.",
    ),
    Mistake(
        "added_to_the_memory",
        STEPS.but(cross_sum=lambda memory, cross_attended: memory + cross_attended),
        does="the output of the cross-attention is added to the memory",
        says=(
            "{does}. It belongs to the positions of the target: the sum crashes unless source and target are equally "
            "long, and then means nothing."
        ),
        hints=["How many rows has the output of the cross-attention, and how many the memory?"],
    ),
    wrong_input(
        "feed_forward_reads_self_attention",
        lambda self, second_input: self.feed_forward(second_input),
        "the network reads the result of the first sublayer",
    ),
    wrong_input(
        "feed_forward_reads_the_input",
        lambda self, x: self.feed_forward(x),
        "the network reads the layer's input",
    ),
    wrong_input(
        "feed_forward_reads_the_bare_output",
        lambda self, cross_attended: self.feed_forward(cross_attended),
        "the network reads the bare output of the cross-attention",
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
        STEPS.but(
            second_input=lambda x: x,
            third_input=lambda x: x,
            network_sum=lambda x, self_attended, cross_attended, network_output: (
                x + self_attended + cross_attended + network_output
            ),
        ).attempt,
        STEPS.but(
            second_input=lambda x: x,
            cross_sum=lambda x, self_attended, cross_attended: x + self_attended + cross_attended,
            norms=lambda norms: (norms[0], norms[0], norms[2]),
        ).attempt,
        STEPS.but(
            second_input=lambda x: x,
            cross_sum=lambda x, self_attended, cross_attended: x + self_attended + cross_attended,
            norms=lambda norms: (norms[0], norms[0], norms[1]),
        ).attempt,
        does="sublayers work side by side, on the same input",
        says="{does}. They should come one after the other: each goes on from the result of the one before.",
        hints=["What does the cross-attention know about the tokens before?"],
    ),
    Mistake(
        "no_self_attention",
        STEPS.but(second_input=lambda x: x),
        STEPS.but(second_input=lambda x: x, norms=lambda norms: (norms[2], norms[0], norms[1])).attempt,
        STEPS.but(self_sum=lambda first_input: first_input),
        does="the output of the self-attention is not used",
        says=(
            "The other tokens of the target have no effect: the self-attention is missing, or its output is not used. "
            "Look at the first sublayer, and at what the second reads."
        ),
        hints=["Change the first token. Does the output at the second position change?"],
    ),
    Mistake(
        "no_cross_attention",
        STEPS.but(third_input=lambda self_normed: self_normed),
        STEPS.but(
            third_input=lambda self_normed: self_normed, norms=lambda norms: (norms[0], norms[2], norms[1])
        ).attempt,
        STEPS.but(cross_sum=lambda second_input: second_input),
        does="the output of the cross-attention is not used",
        says=(
            "The memory has no effect: the cross-attention is missing, or its output is not used. That is the layer of "
            "a decoder-only model. Look at the second sublayer, and at what the third reads."
        ),
        hints=["Where does `memory` occur in the code?"],
    ),
    Mistake(
        "no_attention",
        STEPS.but(third_input=lambda x: x),
        does="the third sublayer goes on from the layer's input",
        says=(
            "Neither the other tokens nor the memory have an effect: the last sublayer goes on from the layer's input. "
            "Look at what it reads, and to what its output is added."
        ),
        hints=["Change the memory. Does the output change?"],
    ),
    Mistake(
        "no_feed_forward",
        STEPS.but(output=lambda cross_normed: cross_normed),
        STEPS.but(network_sum=lambda third_input: third_input),
        does="the feed-forward network has no effect",
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
        does="the cross-attention comes before the self-attention",
        says=(
            "{does}. A position should first find out what the target says so far, and then look for something in the "
            "source. Look at the order."
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
        STEPS.but(
            third_input=lambda self_normed: self_normed,
            second_input=lambda norms, network_sum: norms[2](network_sum),
            output=lambda cross_normed: cross_normed,
        ).attempt,
        does="the feed-forward network comes between the two attentions",
        says="{does}. It should come last, and use what both have found. Look at the order.",
        hints=["What does the network know when it comes before the cross-attention?"],
    ),
    Mistake(
        "drops_in_training",
        STEPS.but(
            self_attended=lambda self, self_attended: dropped(self, self_attended),
            cross_attended=lambda self, cross_attended: dropped(self, cross_attended),
            network_output=lambda self, network_output: dropped(self, network_output),
        ).attempt,
        says="While it trains, something is dropped at random. There is no dropout in this exercise.",
        hints=[
            "Which line is random?",
            "In training mode, two calls return two results.",
            "Leave the dropout out.",
        ],
    ),
    Mistake(
        "memory_returned_too",
        STEPS.but(output=lambda output, memory: (output, memory)),
        does="the memory is returned as well",
        says="{does}. Only the output is asked for.",
        hints=["How many things does the annotation say are returned?"],
    ),
]
