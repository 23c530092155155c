"""What goes wrong in a context vector once each weight has met its state: with how the states are added up."""

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_00_bottleneck.context_vector.answer import STEPS

MISTAKES = [
    Mistake(
        "adds_everything",
        STEPS.but(axis=lambda: (0, 1, 2)),
        STEPS.but(axis=lambda: (1, 2)),
        STEPS.but(axis=lambda: (0, 1)),
        STEPS.but(axis=lambda: (0, 2)),
        STEPS.but(total=lambda weighted: weighted.sum(dim=(0, 1)).expand(len(weighted), -1)),
        does="the sum runs over more than one axis",
        says="Too much is added up: {does}. Each text should keep a vector of its own. Look at what the sum runs over.",
        hints=["How many numbers should come out for 2 texts and states of width 3?"],
    ),
    Mistake(
        "overwritten_in_the_loop",
        STEPS.but(total=lambda weighted: weighted[:, -1]),
        STEPS.but(total=lambda weighted: weighted[:, 0]),
        does="only one of the weighted states arrives",
        says=(
            "Only one state arrives, weighted: the last, if each turn of a loop throws away what the one before it "
            "found, or the first, if a loop is left in its first turn."
        ),
        hints=["How many of the states does the result depend on?"],
    ),
    Mistake(
        "weights_returned_too",
        STEPS.but(context=lambda context, weights: (context, weights)),
        STEPS.but(context=lambda context, weights: (weights, context)),
        does="the weights are handed back beside the context",
        says="A pair comes out, the context and the weights. Only the context is asked for.",
        hints=["What does `type(...)` say of the result?"],
    ),
    Mistake(
        "keeps_the_axis",
        STEPS.but(context=lambda context: context[:, None]),
        STEPS.but(context=lambda context: context[:, :, None]),
        STEPS.but(context=lambda context: context[None]),
        does="an axis of length 1 too many is left in the result",
        says="The numbers are right, but there is an axis of length 1 too many. Look at the shape.",
        hints=["The shape asked for is (batch, d). Which is it now?"],
    ),
    Mistake(
        "divided_by_the_width",
        STEPS.but(context=lambda context, states: context / states.shape[-1] ** 0.5),
        STEPS.but(context=lambda context, states: context / states.shape[-1]),
        does="the context is divided by the width of the states, or by its root",
        says=(
            "{does}. The weights add up to 1, so their weighted average is neither too large nor too small. Look for a "
            "division."
        ),
        hints=["With the weights 1, 0, 0, the first state should come back unchanged. Does it?"],
    ),
]
