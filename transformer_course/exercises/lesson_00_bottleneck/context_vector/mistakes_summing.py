"""What goes wrong in a context vector once each weight has met its state: with how the states are added up."""

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_00_bottleneck.context_vector.answer import STEPS
from transformer_course.exercises.shared.final_result_mistakes import of_the_result, rounded
from transformer_course.exercises.shared.single_query_mistakes import of_the_sum

MISTAKES = [
    Mistake(
        "not_added",
        STEPS.but(total=lambda weighted: weighted),
        does="the weighted states are not added up",
    ),
    Mistake(
        "adds_over_the_width",
        STEPS.but(axis=lambda: -1),
        does="the sum runs over the width: the entries of each state are added to each other",
        says=(
            "The entries of each state are added to each other, so that no vector is left. The *states* should be "
            "added. Look at the axis of the sum."
        ),
        hints=["How many numbers should come out for states of width 3?"],
    ),
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
        "adds_over_the_texts",
        STEPS.but(axis=lambda: 0),
        does="the sum runs over the texts of the batch",
    ),
    *of_the_sum(
        STEPS,
        "total",
        1,
        "states",
        "states",
        STEPS.but(weights=lambda weights: weights / weights.shape[1]),
        STEPS.but(context=lambda context, weights: context / weights.shape[1]),
    ),
    Mistake(
        "first_state_left_out",
        STEPS.but(weighted=lambda weighted: weighted[:, 1:]),
        STEPS.but(total=lambda weighted: sum(weighted[:, i] for i in range(1, weighted.shape[1]))),
        does="the first state is left out",
        says="The first state of each text is left out. Look at where the counting begins.",
        hints=["With the weights 1, 0, 0, what comes out?"],
    ),
    Mistake(
        "last_state_left_out",
        STEPS.but(weighted=lambda weighted: weighted[:, :-1]),
        STEPS.but(total=lambda weighted: sum(weighted[:, i] for i in range(weighted.shape[1] - 1))),
        does="the last state is left out",
        says="The last state of each text is left out. Look at where the counting ends.",
        hints=["With the weights 0, 0, 1, what comes out?"],
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
        "texts_accumulate",
        STEPS.but(context=lambda context: context.cumsum(dim=0)),
        does="each text's sum begins with what the texts before it left",
        says=(
            "The first text is right; to each further one, the contexts of those before it are added. Look at where "
            "the sum is set back to 0."
        ),
        hints=["What is in the sum when the second text begins?"],
    ),
    Mistake(
        "only_one_text",
        STEPS.but(context=lambda context: context[0]),
        STEPS.but(context=lambda context: context[-1]),
        STEPS.but(context=lambda context: context[:1]),
        STEPS.but(context=lambda context: context[-1:]),
        does="the context of a single text is handed back, whatever the size of the batch",
        says="The context of one text comes out, however many there are. A row for every text is asked for.",
        hints=["What shape comes out for 3 texts, and what shape should?"],
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
        "adds_the_last_state",
        STEPS.but(total=lambda total, states: total + states[:, -1]),
        STEPS.but(total=lambda total, states: total + states[:, 0]),
        does="one of the states is added to the weighted average",
        says="A state is added to the weighted sum as it is, beside its part in it. Only the weighted sum is asked "
        "for.",
        hints=["With the weights 1, 0, 0, the first state should come back unchanged. What comes back?"],
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
    rounded(STEPS, "weights", "context", digits=[2]),
    *of_the_result(
        STEPS,
        "result_scaled",
        "result_transposed",
        "function_of_the_result",
        "result_with_another_axis",
        "only_the_first_result",
    ),
]
