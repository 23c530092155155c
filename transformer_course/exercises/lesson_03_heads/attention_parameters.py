"""How many numbers a multi-head attention learns."""

from transformer_course.exercise import Exercise, Mistake
from transformer_course.exercises.shared.draw_cases import digits
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def attention_parameters(d_model: int, n_heads: int, bias: bool = True) -> int:
    """Count the parameters of a multi-head attention."""
    per_layer = d_model * d_model + (d_model if bias else 0)
    return 4 * per_layer


def weights(d_model):
    """multiply inputs by outputs → the number of weights of one layer: d_model times d_model"""
    return d_model * d_model


def biases(d_model, bias):
    """count the biases, one for each output → the number of biases of one layer: d_model, or 0 without biases"""
    return d_model if bias else 0


def per_layer(weights, biases):
    """add the two → the number of parameters of one layer: its weights and its biases"""
    return weights + biases


def layers():
    """count the layers → the number of layers: w_q, w_k, w_v and w_o"""
    return 4


def total(layers, per_layer):
    """multiply by the number of layers → the number of parameters of all layers: that of one, times 4"""
    return layers * per_layer


STEPS = InSteps(weights, biases, per_layer, layers, total, reference=attention_parameters)


def attention_parameters_cases(seed: int) -> list[Case]:
    more, d_head = digits(seed, 127, 101)
    d_k, narrow = 5 + more, 8 + 2 * d_head  # the first is never the same for one seed and the next
    return [
        Case({"d_model": 2, "n_heads": 1}, "width 2, one head"),
        Case({"d_model": 6, "n_heads": 2}, "width 6, 2 heads"),
        Case({"d_model": 6, "n_heads": 3, "bias": False}, "width 6, 3 heads, no biases"),
        Case({"d_model": 6, "n_heads": 3}, "width 6, 3 heads, the same with biases"),
        Case({"d_model": narrow, "n_heads": 2, "bias": False}, f"width {narrow}, 2 heads, no biases"),
        Case({"d_model": 4099, "n_heads": 1, "bias": False}, "width 4099: more weights than a float32 can count"),
        Case({"d_model": 8 * d_k, "n_heads": 8}, f"width {8 * d_k}, 8 heads"),
    ]


def one_head(d_model, n_heads, biases):
    return 3 * (d_model + bool(biases)) * (d_model // n_heads) + d_model**2 + biases


MISTAKES = [
    Mistake(
        "every_head_as_wide_as_the_model",
        STEPS.but(layers=lambda layers, n_heads: layers * n_heads),
        STEPS.but(layers=lambda n_heads: 3 * n_heads + 1),
        summary="the layers are counted once for every head, each as wide as the model",
        message=(
            "The count grows with the number of heads, as if every head had projections as wide as the model. The "
            "heads *share* a projection of d_model columns: each gets d_model / n_heads of them."
        ),
        hints=["With 2 heads instead of 1, how wide is each head?"],
    ),
    Mistake(
        "nothing_without_biases",
        STEPS.but(total=lambda total, bias: total if bias else 0),
        summary="without biases the count is 0",
        message=(
            "{summary}: an `… if … else …` takes in everything that stands in front of it, and a factor everything it "
            "multiplies."
        ),
        hints=["What is `1 + 1 if False else 0`?"],
    ),
    Mistake(
        "w_o_without_biases",
        STEPS.but(total=lambda total, biases: total - biases),
        summary="the biases of one layer are left out",
        message="The weights are right, and {summary}. Look at which layers have some.",
        hints=["How many layers are there, and how many biases has each?"],
    ),
    Mistake(
        "only_one_head",
        STEPS.but(total=one_head),
        summary="layers are counted with d_model × d_k weights, as for a single head",
        message=(
            "For some layers, d_model × d_k weights are counted: the part of a single head. All the heads together "
            "have more."
        ),
        hints=["How many columns does one head take from w_q, and how many columns has w_q?"],
    ),
]


EXERCISE = Exercise(
    reference=attention_parameters,
    steps=STEPS,
    cases=attention_parameters_cases,
    points=1,
    verified="Four layers of d_model × d_model, with or without biases, and the number of heads nowhere in it.",
    hints=[
        "Which layers does a multi-head attention have, and how many numbers come out of each?",
        "`nn.Linear(a, b)` holds a · b weights, and b biases if it has any. All four layers have a = b = d_model.",
        "Four times (d_model² + d_model), or four times d_model² without biases.",
    ],
    messages={
        "ignored_bias": "The biases are counted where there are none, too: `bias` has no effect.",
        "condition_biases": (
            "The biases are counted where there are none, and left out where there are some. Look at the condition."
        ),
        "done_again_per_layer": (
            "More biases are counted than there are: one for each output of each layer. Look at what is added."
        ),
    },
    mistakes=MISTAKES,
)
