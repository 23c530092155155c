"""The number of parameters in multi-head attention."""

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared.draw_cases import digits
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def attention_parameters(d_model: int, n_heads: int, bias: bool = True) -> int:
    """Count the parameters of a multi-head attention module."""
    per_layer = d_model * d_model + (d_model if bias else 0)
    return 4 * per_layer


def weights(d_model):
    """count the weights of one layer → the number of weights per layer: d_model · d_model"""
    return d_model * d_model


def biases(d_model, bias):
    """count the biases of one layer → the number of biases per layer: d_model, or 0 without biases"""
    return d_model if bias else 0


def per_layer(weights, biases):
    """add the weights and the biases → the number of parameters per layer"""
    return weights + biases


def layers():
    """count the layers → the number of layers: 4 (w_q, w_k, w_v and w_o)"""
    return 4


def total(layers, per_layer):
    """multiply by the number of layers → the total number of parameters: 4 times the parameters per layer"""
    return layers * per_layer


STEPS = InSteps(weights, biases, per_layer, layers, total, reference=attention_parameters)


def attention_parameters_cases(seed: int) -> list[Case]:
    more, d_head = digits(seed, 127, 101)
    d_k, narrow = 5 + more, 8 + 2 * d_head  # d_k differs between consecutive seeds
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
        summary="you count separate projections of d_model × d_model for every head",
        message=(
            "{summary}, so your count grows with the number of heads. The heads *share* a projection: with d_model = "
            "6 and 2 heads, each uses 3 of its 6 outputs."
        ),
        hints=["With d_model = 6, how wide is each of 2 heads? And each of 3 heads?"],
    ),
    Mistake(
        "nothing_without_biases",
        STEPS.but(total=lambda total, bias: total if bias else 0),
        summary="you return 0 when `bias` is False",
        message=(
            "{summary}. Python reads `a + b if bias else 0` as `(a + b) if bias else 0`, and multiplying the whole sum "
            "by `bias` has the same effect. Which terms should depend on `bias`?"
        ),
        hints=["What is `1 + 1 if False else 0`?"],
    ),
    Mistake(
        "w_o_without_biases",
        STEPS.but(total=lambda total, biases: total - biases),
        summary="you leave out the biases of one layer",
        message=(
            "Your weight count is right, but {summary}: for d_model = 2, you return 22 instead of 24. Which layers "
            "have biases?"
        ),
        hints=["How many layers are there, and how many biases does each layer have?"],
    ),
    Mistake(
        "only_one_head",
        STEPS.but(total=one_head),
        summary="you count only one head's part of `w_q`, `w_k` and `w_v`",
        message=(
            "{summary}, which has d_model × d_k weights. Each of these layers has d_model × d_model weights for all "
            "the heads together. How many outputs does `w_q` have?"
        ),
        hints=["How many of the outputs of `w_q` does one head use?"],
    ),
    Mistake(
        "d_model_biases_for_every_head",
        STEPS.but(total=lambda total, biases, n_heads: total + 3 * (n_heads - 1) * biases),
        summary="you count d_model biases for every head of `w_q`, `w_k` and `w_v`",
        message=(
            "{summary}, so each of these layers gets n_heads · d_model biases. A layer has one bias for each of its "
            "d_model outputs. How many of these outputs does one head use?"
        ),
        hints=["With d_model = 6 and 2 heads, how many biases does `w_q` have? How many do you count?"],
    ),
]


EXERCISE = Exercise(
    reference=attention_parameters,
    steps=STEPS,
    cases=attention_parameters_cases,
    points=1,
    verified=(
        "You count four layers of d_model × d_model, with or without biases, and the number of heads makes no "
        "difference."
    ),
    hints=[
        "Which layers does multi-head attention have, and how many outputs does each layer have?",
        "`nn.Linear(a, b)` has a · b weights, and b biases if `bias` is True. In all four layers, a = b = d_model.",
        "Four times (d_model² + d_model), or four times d_model² without biases.",
    ],
    messages={
        "number_layers: 3": Wording(
            "{summary}: for d_model = 2 with biases, you return 18 instead of 24. Three layers project the queries, "
            "keys and values. Which layer combines the merged heads?",
            summary="you count 3 layers instead of 4",
            hints=["For d_model = 2, how many parameters does each layer have? How many layers add up to 24?"],
        ),
        "always_one_biases": Wording(
            "{summary}, so your count is right only if `bias` is False. How many biases does a layer with d_model "
            "outputs have?",
            summary="you never count the biases",
            hints=["For d_model = 2 with biases, the count should be 4 · (4 + 2). What do you return?"],
        ),
        "ignored_bias": Wording(
            "You count the biases even if `bias` is False. For d_model = 6 without biases, you return 168 instead of 4 "
            "· 36 = 144. Which terms should depend on `bias`?",
            summary="you count biases even if `bias` is False",
            hints=["What do you return for d_model = 6 with biases? And without?"],
        ),
        "condition_biases": Wording(
            "You count the biases if `bias` is False and leave them out if it is True: for d_model = 2 with biases, "
            "you return 16 instead of 24. When should you add d_model biases to a layer?",
            summary="you count biases if `bias` is False instead of True",
            hints=["For d_model = 2 with biases, the count should be 4 · (4 + 2). What do you return?"],
        ),
        "done_again_per_layer": Wording(
            "You count 5 · d_model biases instead of 4 · d_model. Each of the four layers has one bias for each "
            "output. Which biases do you count twice?",
            summary="you count the biases of five layers instead of four",
            hints=["For d_model = 2, how many biases does each of the four layers have? How many do you count?"],
        ),
    },
    mistakes=MISTAKES,
)
