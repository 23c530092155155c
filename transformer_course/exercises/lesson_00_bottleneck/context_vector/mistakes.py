"""What goes wrong in a context vector: which weight meets which state, and how these are added up."""

from torch.nn import functional as F

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_00_bottleneck.context_vector.answer import STEPS

MISTAKES = [
    Mistake(
        "every_text_with_every_other",
        STEPS.but(total=lambda weights, states: weights @ states),
        STEPS.but(total=lambda weights, states: (weights @ states).sum(dim=0)),
        does="the weights of every text meet the states of *every* text of the batch",
        says=(
            "{does}, as they do in a product of the whole table of weights with each text's states. Text i should mix "
            "its own states only. Look at the axis of the batch."
        ),
        hints=["With 2 texts whose states are all 0 in the second: what should come out for the second text?"],
    ),
    Mistake(
        "texts_taken_for_states",
        STEPS.but(total=lambda weights, states: sum(w * h for w, h in zip(weights, states, strict=True))),
        does="what is taken for one state is all the states of a *text*",
        says=(
            "The sum goes through the *texts*: they come first, so what it takes for one state is all the states of a "
            "text. That crashes, or, where the numbers happen to fit, adds the texts to each other."
        ),
        hints=["What shape has one `h` of `for h in states`, or one term of `sum(…)`?"],
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
        "hard_pick",
        STEPS.but(weights=lambda weights: F.one_hot(weights.argmax(dim=1), weights.shape[1]).float()),
        does="only the state with the largest weight is used",
        says=(
            "{does}; all others are thrown away. And nothing can be learned that way about which state to choose. "
            "Every state should take part."
        ),
        hints=["With the weights 0.75 and 0.25, how much of the second state should be in the result?"],
    ),
    Mistake(
        "weights_returned_too",
        STEPS.but(context=lambda context, weights: (context, weights)),
        STEPS.but(context=lambda context, weights: (weights, context)),
        does="the weights are handed back beside the context",
        says="A pair comes out, the context and the weights. Only the context is asked for.",
    ),
]
