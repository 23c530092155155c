"""What goes wrong in additive scores after the sum of query and key: with tanh, and with w."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_02_scaling.additive_scores.answer import STEPS
from transformer_course.exercises.shared.final_result_mistakes import of_the_result


def tanh_by_hand(x):
    """Divide two sums of exponentials, which both overflow where x is large."""
    return (x.exp() - (-x).exp()) / (x.exp() + (-x).exp())


MISTAKES = [
    Mistake(
        "no_tanh",
        STEPS.but(hidden=lambda sums: sums),
        does="no tanh is taken",
    ),
    Mistake(
        "tanh_at_the_end",
        STEPS.but(hidden=lambda sums: sums, scores=lambda scores: scores.tanh()),
        does="the tanh is taken of the scores, not of the sums",
        says=(
            "Every score is squeezed between -1 and 1: the tanh stands round the whole score. Look at the order: which "
            "comes first, tanh or w?"
        ),
        hints=["In w · tanh(…), what is inside the tanh?"],
    ),
    Mistake(
        "tanh_twice",
        STEPS.but(scores=lambda scores: scores.tanh()),
        STEPS.but(hidden=lambda hidden: hidden.tanh()),
        does="a second tanh is taken",
        says="{does}, of the hidden vectors or of the scores. The formula has one. Look for the other.",
        hints=["How often does tanh occur in w · tanh(W_q q + W_k k)?"],
    ),
    Mistake(
        "tanh_before_adding",
        STEPS.but(
            from_queries=lambda from_queries: from_queries.tanh(),
            from_keys=lambda from_keys: from_keys.tanh(),
            hidden=lambda sums: sums,
        ),
        does="the tanh is taken of queries and keys before they are added",
        says=(
            "The best key is the same for every query: the tanh is taken of each side before the two are added, so a "
            "score falls apart into a part of the query and a part of the key. Look at what the tanh should see."
        ),
        hints=["In tanh(W_q q + W_k k), which happens first?"],
    ),
    Mistake(
        "another_function_than_tanh",
        STEPS.but(hidden=lambda sums: sums.sigmoid()),
        STEPS.but(hidden=lambda sums: tanh_by_hand(sums / 2)).attempt,
        STEPS.but(hidden=lambda sums: (sums / 2).tanh()).attempt,
        STEPS.but(hidden=lambda sums: sums.tan()).attempt,
        STEPS.but(hidden=lambda sums: sums.atan()).attempt,
        STEPS.but(hidden=lambda sums: sums.softmax(dim=-1)),
        STEPS.but(hidden=lambda sums: torch.nn.functional.gelu(sums)).attempt,
        STEPS.but(hidden=lambda sums: sums.exp()).attempt,
        STEPS.but(hidden=lambda sums: sums.sinh()).attempt,
        does="another function stands in place of tanh",
        says="Another function stands where the formula has tanh. Look at its name.",
        hints=["Which function stands in the formula?"],
    ),
    Mistake(
        "tanh_by_hand",
        STEPS.but(hidden=lambda sums: tanh_by_hand(sums)),
        does="the exponentials in the tanh overflow where the sums are large",
        says=(
            "Right for ordinary numbers. Where a sum is above 88, its exponential is infinite, and infinity divided by "
            "infinity is nan. Look for a ready-made function."
        ),
        hints=["What is `torch.exp(torch.tensor(100.0))`?"],
    ),
    Mistake(
        "forgets_w",
        STEPS.but(scores=lambda hidden: hidden.sum(dim=-1)),
        STEPS.but(scores=lambda hidden: hidden.mean(dim=-1)),
        does="`w` is not used",
        says=(
            "The entries of each hidden vector are added up or averaged as they are: {does}. It says how much each of "
            "them counts, and is what the network learns."
        ),
        hints=["Does `w` occur in the code? What does it do in w · tanh(…)?"],
    ),
    Mistake(
        "averages_the_products",
        STEPS.but(scores=lambda hidden, w: (hidden * w).mean(dim=-1)),
        does="the products with `w` are averaged, not added up",
        says="The products with `w` are averaged. A dot product adds them up. Look for a mean.",
        hints=["By what number are the scores too small?"],
    ),
    Mistake(
        "w_before_tanh",
        STEPS.but(hidden=lambda sums, w: torch.tanh(sums * w), scores=lambda hidden: hidden.sum(dim=-1)),
        does="the sums are multiplied by `w` before the tanh",
        says="The sums are multiplied by `w` inside the tanh. In the formula, `w` comes after it.",
        hints=["In w · tanh(…), what is inside the tanh?"],
    ),
    Mistake(
        "weighed_but_not_added",
        STEPS.but(scores=lambda hidden, w: hidden * w),
        does="the products with `w` are not added up",
    ),
    Mistake(
        "w_on_the_left",
        STEPS.but(scores=lambda hidden, w: w @ hidden),
        does="`w` stands on the left of the hidden vectors",
    ),
    Mistake(
        "scaled_as_well",
        STEPS.but(scores=lambda scores, w: scores / len(w) ** 0.5),
        STEPS.but(scores=lambda scores, keys: scores / keys.shape[-1] ** 0.5),
        STEPS.but(scores=lambda scores, queries: scores / queries.shape[-1] ** 0.5).attempt,
        does="the scores are divided by a root",
        says="The scores are divided by the root of a width. There is no such division in additive attention.",
        hints=["Compare with the formula: w · tanh(W_q q + W_k k)."],
    ),
    Mistake(
        "weights_instead_of_scores",
        STEPS.but(scores=lambda scores: scores.softmax(dim=-1)),
        STEPS.but(scores=lambda scores: scores.softmax(dim=-2)),
        does="a softmax is taken of the scores",
        says="These are weights: they add up to 1. The scores before the softmax are asked for.",
        hints=["Is there a softmax in the code?"],
    ),
    Mistake(
        "rounded",
        STEPS.but(scores=lambda scores: scores.round(decimals=2)).attempt,
        STEPS.but(hidden=lambda hidden: hidden.round(decimals=2)).attempt,
        says="Numbers are rounded on the way. Round numbers only to print them.",
        hints=[
            "Where does the code round?",
            "The derivative of a rounded number is 0, so nothing could be learned either.",
            "Leave `round` out.",
        ],
    ),
    *of_the_result(STEPS, "result_transposed", "function_of_the_result", "only_the_first_result"),
]
