"""What goes wrong when parameters are counted."""

import torch
from torch import nn

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_03_heads.attention_parameters.answer import STEPS


def one_head(d_model, n_heads, biases):
    return 3 * (d_model + bool(biases)) * (d_model // n_heads) + d_model**2 + biases


MISTAKES = [
    Mistake(
        "every_head_as_wide_as_the_model",
        STEPS.but(layers=lambda layers, n_heads: layers * n_heads),
        STEPS.but(layers=lambda n_heads: 3 * n_heads + 1),
        STEPS.but(total=lambda weights, biases, n_heads: n_heads * 3 * (weights + biases) + n_heads * weights + biases),
        does="the layers are counted once for every head, each as wide as the model",
        says=(
            "The count grows with the number of heads, as if every head had projections as wide as the model. The "
            "heads *share* a projection of d_model columns: each gets d_model / n_heads of them."
        ),
        hints=["With 2 heads instead of 1, how wide is each head?"],
    ),
    Mistake(
        "forgets_w_o",
        STEPS.but(layers=lambda: 3),
        STEPS.but(layers=lambda n_heads: 4 if n_heads > 1 else 3).attempt,
        does="only three layers are counted, not four",
        says="Three layers are counted, and there are four. Which one comes after the heads are merged?",
        hints=["Look at the list of layers in `__init__` of the module."],
    ),
    Mistake(
        "another_number_of_layers",
        STEPS.but(layers=lambda: 1),
        STEPS.but(layers=lambda: 2),
        STEPS.but(layers=lambda: 5),
        does="one, two or five layers are counted",
        says="The number of layers is another one. Count those that a multi-head attention learns.",
        hints=["Look at the list of layers in `__init__` of the module."],
    ),
    Mistake(
        "forgets_the_biases",
        STEPS.but(biases=lambda: 0),
        does="the biases are never counted",
        says="The weights are right, but {does}. Look at what `bias` is for.",
        hints=["Does the count change when `bias` changes?"],
    ),
    Mistake(
        "always_with_biases",
        STEPS.but(bias=lambda: True),
        does="the biases are counted whatever `bias` says",
    ),
    Mistake(
        "bias_turned_round",
        STEPS.but(bias=lambda bias: not bias),
        does="the biases are counted where there are none, and the other way round",
        says="The biases are counted where there are none, and left out where there are some. Look at the condition.",
        hints=["Compare `bias=True` with `bias=False`. Which should be larger?"],
    ),
    Mistake(
        "nothing_without_biases",
        STEPS.but(total=lambda total, bias: total if bias else 0),
        does="without biases the count is 0",
        says=(
            "{does}: an `… if … else …` takes in everything that stands in front of it, and a factor everything it "
            "multiplies."
        ),
        hints=["What is `1 + 1 if False else 0`?"],
    ),
    Mistake(
        "nothing_without_biases_returned",
        STEPS.but(total=lambda total, bias: total if bias else None),
        does="without biases nothing is returned",
        says="{does}: None comes out. Look at where the `return` stands.",
        hints=["What does `print(attention_parameters(6, 3, bias=False))` show?"],
    ),
    Mistake(
        "caret_for_a_power",
        STEPS.but(weights=lambda d_model: d_model ^ 2),
        STEPS.but(per_layer=lambda d_model, biases: d_model ^ 2 + biases),
        does="`^` stands for a power, which it is not",
        says="`^` is no power in Python: it compares the bits of two numbers. Look at the square.",
        hints=["In a new cell, try `6 ^ 2`."],
    ),
    Mistake(
        "doubled_not_squared",
        STEPS.but(weights=lambda d_model: 2 * d_model),
        STEPS.but(weights=lambda d_model: d_model),
        does="the width is not squared: it is doubled, or taken once",
    ),
    Mistake(
        "one_bias_vector",
        STEPS.but(total=lambda layers, weights, biases: layers * weights + biases),
        does="the biases of one layer are counted for all",
        says="The biases are counted once. Each of the four layers has its own.",
        hints=["How many layers are there, and how many biases has each?"],
    ),
    Mistake(
        "w_o_without_biases",
        STEPS.but(total=lambda total, biases: total - biases),
        does="the biases of one layer are left out",
        says="The weights are right, and {does}. Look at which layers have some.",
        hints=["How many layers are there, and how many biases has each?"],
    ),
    Mistake(
        "biases_subtracted",
        STEPS.but(biases=lambda biases: -biases),
        does="the biases are subtracted",
    ),
    Mistake(
        "biases_added_once_more",
        STEPS.but(total=lambda total, biases: total + biases),
        STEPS.but(biases=lambda biases: 2 * biases),
        does="more biases are counted than there are",
        says="{does}: one for each output of each layer. Look at what is added.",
        hints=["How many outputs has one layer?"],
    ),
    Mistake(
        "biases_for_every_head",
        STEPS.but(biases=lambda biases, n_heads: biases * n_heads),
        STEPS.but(biases=lambda biases, n_heads: biases // n_heads),
        STEPS.but(biases=lambda bias, n_heads: n_heads if bias else 0),
        does="the number of biases depends on that of the heads",
        says=(
            "The number of biases depends on the heads. A layer has one for each of its d_model outputs, however they "
            "are read."
        ),
        hints=["In a new cell: what is the shape of `nn.Linear(6, 6).bias`?"],
    ),
    Mistake(
        "only_one_head",
        STEPS.but(total=one_head),
        STEPS.but(
            weights=lambda weights, n_heads: weights // n_heads, biases=lambda biases, n_heads: biases // n_heads
        ),
        STEPS.but(weights=lambda weights, n_heads: weights // n_heads),
        STEPS.but(total=lambda weights, biases, n_heads: 3 * (weights // n_heads) + weights + 4 * biases),
        does="layers are counted with d_model × d_k weights, as for a single head",
        says=(
            "For some layers, d_model × d_k weights are counted: the part of a single head. All the heads together "
            "have more."
        ),
        hints=["How many columns does one head take from w_q, and how many columns has w_q?"],
    ),
    Mistake(
        "heads_see_only_their_slice",
        STEPS.but(weights=lambda d_model, n_heads: (d_model // n_heads) ** 2),
        does="a head is counted as if it read only d_k features",
        says=(
            "Each head is counted as if it read only d_k of the features. It reads all d_model of them, and *makes* "
            "d_k new ones."
        ),
        hints=["Does one head's output depend on all of x? The gradient above says it."],
    ),
    Mistake(
        "heads_64_wide",
        STEPS.but(
            total=lambda d_model, n_heads, bias: (
                (4 * d_model + 3 * bool(bias)) * 64 * n_heads + (d_model if bias else 0)
            )
        ),
        does="every head is taken to be 64 wide, as in the paper",
        says="{does}. Here d_model and the number of heads say how wide it is.",
        hints=["How wide is a head if d_model is 12 and there are 3?"],
    ),
    Mistake(
        "counts_in_float32",
        STEPS.but(total=lambda total: int(torch.tensor(float(total)))),
        does="the count goes through float32, which rounds large numbers",
        says=(
            "Small widths come out right. For large ones the count is off by a few: it goes through a float32, which "
            "has 24 bits for all digits together."
        ),
        hints=["What is `int(torch.tensor(16777217.0))`?"],
    ),
    Mistake(
        "counts_in_floats",
        STEPS.but(total=lambda total: float(total)),
        does="the count is a float",
        says="The count is right, but it came out as a float. Parameters come in whole numbers: look at the division.",
        hints=["What does `type(...)` say of the result?"],
    ),
    Mistake(
        "counts_tensors",
        STEPS.but(weights=lambda: 1, biases=lambda bias: int(bias)),
        does="the tensors are counted, not the numbers in them",
    ),
    Mistake(
        "numel_of_a_layer",
        STEPS.but(weights=lambda d_model, bias: nn.Linear(1, 1, bias=bias).numel()),  # type: ignore[operator]
        does="`numel` is asked of a layer",
        says="A layer has no `numel`; its parameters have. Look at what is counted.",
        hints=["What does `list(nn.Linear(6, 6).parameters())` hold?"],
    ),
]
