"""What goes wrong when parameters are counted."""

from transformer_lab.course.exercise import Mistake


def every_head_as_wide_as_the_model(d_model, n_heads, bias=True):
    return n_heads * 3 * (d_model**2 + bias * d_model) + n_heads * d_model**2 + bias * d_model


def every_head_with_layers_of_its_own(d_model, n_heads, bias=True):
    return (n_heads * 3 + 1) * (d_model**2 + bias * d_model)


def counted_once_per_head(d_model, n_heads, bias=True):
    return n_heads * 4 * (d_model**2 + bias * d_model)


def forgets_w_o(d_model, n_heads, bias=True):
    return 3 * (d_model**2 + bias * d_model)


def forgets_the_biases(d_model, n_heads, bias=True):
    return 4 * d_model**2


def always_with_biases(d_model, n_heads, bias=True):
    return 4 * (d_model**2 + d_model)


def nothing_without_biases(d_model, n_heads, bias=True):
    return 4 * d_model**2 + 4 * d_model if bias else 0


def caret_for_a_power(d_model, n_heads, bias=True):
    return 4 * (d_model ^ 2 + bias * d_model)


def caret_for_a_power_in_brackets(d_model, n_heads, bias=True):
    return 4 * ((d_model ^ 2) + bias * d_model)


def one_bias_per_layer(d_model, n_heads, bias=True):
    return 4 * (d_model**2 + bias)


def one_bias_vector(d_model, n_heads, bias=True):
    return 4 * d_model**2 + bias * d_model


def only_one_head(d_model, n_heads, bias=True):
    d_k = d_model // n_heads
    return 3 * (d_model * d_k + bias * d_k) + d_model**2 + bias * d_model


def every_layer_of_one_head(d_model, n_heads, bias=True):
    d_k = d_model // n_heads
    return 4 * (d_model * d_k + bias * d_k)


def heads_see_only_their_slice(d_model, n_heads, bias=True):
    d_k = d_model // n_heads
    return n_heads * 3 * (d_k**2 + bias * d_k) + d_model**2 + bias * d_model


def counts_in_floats(d_model, n_heads, bias=True):
    d_k = d_model / n_heads
    return n_heads * 3 * (d_model * d_k + bias * d_k) + d_model**2 + bias * d_model


MISTAKES = [
    Mistake(
        "every_head_as_wide_as_the_model",
        [every_head_as_wide_as_the_model, counted_once_per_head, every_head_with_layers_of_its_own],
        says=(
            "The count grows with the number of heads, as if every head had projections as wide as the model. The "
            "heads *share* a projection of d_model columns: each gets d_model / n_heads of them."
        ),
        hints=[
            "With 2 heads instead of 1, how wide is each head?",
            "h heads, each with d_model · d_model / h weights: how many is that together?",
            "The number of heads cancels.",
        ],
    ),
    Mistake(
        "forgets_w_o",
        [forgets_w_o],
        says="Three layers are counted, and there are four. Which one comes after the heads are merged?",
        hints=[
            "Look at the list of layers in `__init__` of the module.",
            "w_q, w_k and w_v make the heads. What mixes them afterwards?",
            "w_o is d_model × d_model, too.",
        ],
    ),
    Mistake(
        "forgets_the_biases",
        [forgets_the_biases],
        says="The weights are right, but the biases are never counted. Look at what `bias` is for.",
        hints=[
            "Does the count change when `bias` changes?",
            "`nn.Linear(a, b)` has one bias for each of its b outputs.",
            "d_model biases in each of the four layers.",
        ],
    ),
    Mistake(
        "always_with_biases",
        [always_with_biases],
        says="Right with biases; without them the count should be smaller. The argument `bias` makes no difference.",
        hints=[
            "Compare `bias=True` with `bias=False`.",
            "Four layers with d_model biases each drop out.",
            "`d_model if bias else 0`.",
        ],
    ),
    Mistake(
        "nothing_without_biases",
        [nothing_without_biases],
        says=(
            "Right with biases; without them the count is 0: `… if … else …` takes in everything that stands in front of "
            "it."
        ),
        hints=[
            "What is `1 + 1 if False else 0`?",
            "What depends on `bias` is only one of the two terms.",
            "Brackets: `d_model**2 + (d_model if bias else 0)`.",
        ],
    ),
    Mistake(
        "caret_for_a_power",
        [caret_for_a_power, caret_for_a_power_in_brackets],
        says="`^` is no power in Python: it compares the bits of two numbers. Look at the square.",
        hints=[
            "In a new cell, try `6 ^ 2`.",
            "Which operator of Python is a power?",
            "`d_model**2`, or `d_model * d_model`.",
        ],
    ),
    Mistake(
        "one_bias_per_layer",
        [one_bias_per_layer],
        says="Each layer is given a single bias. There is one for each *output* of the layer.",
        hints=[
            "In a new cell: what is the shape of `nn.Linear(6, 6).bias`?",
            "A layer with b outputs adds b numbers, one to each.",
            "d_model biases per layer.",
        ],
    ),
    Mistake(
        "one_bias_vector",
        [one_bias_vector],
        says="The biases are counted once. Each of the four layers has its own.",
        hints=[
            "How many layers are there, and how many biases has each?",
            "Is the bias inside the bracket that is multiplied by 4?",
            "4 · (weights + biases).",
        ],
    ),
    Mistake(
        "only_one_head",
        [only_one_head, every_layer_of_one_head],
        says="This counts the projections of a single head. All the heads have some.",
        hints=[
            "How many columns does one head take from w_q, and how many columns has w_q?",
            "h heads of d_model / h columns each.",
            "w_q, w_k and w_v each have d_model columns in all.",
        ],
    ),
    Mistake(
        "heads_see_only_their_slice",
        [heads_see_only_their_slice],
        says=(
            "Each head is counted as if it read only d_k of the features. It reads all d_model of them, and *makes* "
            "d_k new ones."
        ),
        hints=[
            "Does one head's output depend on all of x? The gradient above says it.",
            "One head's part of w_q is d_model × d_k.",
            "h such parts make d_model × d_model.",
        ],
    ),
    Mistake(
        "counts_in_floats",
        [counts_in_floats],
        says="The count is right, but it came out as a float. Parameters come in whole numbers: look at the division.",
        hints=[
            "What does `type(...)` say of the result?",
            "`/` gives a float even where nothing is left over.",
            "`//`; or do without the division, as the number of heads cancels.",
        ],
    ),
]
