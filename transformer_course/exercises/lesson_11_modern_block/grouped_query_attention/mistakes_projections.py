"""Mistakes in the four layers: how they are made, and what goes through which."""

from torch import nn

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_11_modern_block.grouped_query_attention.answer import (
    STEPS,
    GroupedQueryAttention,
)

AS_GIVEN = "`__init__` was right as it was given."


class AsManyAsQueries(GroupedQueryAttention):
    def __init__(self, d_model, n_heads, n_kv_heads):
        super().__init__(d_model, n_heads, n_kv_heads)
        self.w_k, self.w_v = nn.Linear(d_model, d_model, bias=False), nn.Linear(d_model, d_model, bias=False)


class OfOneHead(GroupedQueryAttention):
    def __init__(self, d_model, n_heads, n_kv_heads):
        super().__init__(d_model, n_heads, n_kv_heads)
        d_k = d_model // n_heads
        self.w_k, self.w_v = nn.Linear(d_model, d_k, bias=False), nn.Linear(d_model, d_k, bias=False)


class WithBiases(GroupedQueryAttention):
    def __init__(self, d_model, n_heads, n_kv_heads):
        super().__init__(d_model, n_heads, n_kv_heads)
        d_kv = d_model // n_heads * n_kv_heads
        self.w_q, self.w_o = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.w_k, self.w_v = nn.Linear(d_model, d_kv), nn.Linear(d_model, d_kv)


class BiasesOfQueriesKeysAndValues(WithBiases):
    def __init__(self, d_model, n_heads, n_kv_heads):
        super().__init__(d_model, n_heads, n_kv_heads)
        self.w_o = nn.Linear(d_model, d_model, bias=False)


MISTAKES = [
    Mistake(
        "weights_not_transposed",
        STEPS.but(
            from_queries=lambda self, x: x @ self.w_q.weight,
            from_keys=lambda self, x: x @ self.w_k.weight,
            from_values=lambda self, x: x @ self.w_v.weight,
        ).attempt,
        STEPS.but(output=lambda self, merged: merged @ self.w_o.weight).attempt,
        says=(
            "The weights of a layer are multiplied by hand, and not transposed: an `nn.Linear` keeps them as (outputs, "
            "inputs). Look at how the layers are used."
        ),
        hints=[
            "Which of the two axes of `self.w_q.weight` belongs to the inputs?",
            "A layer can be called like a function, and then does all that it should.",
            "`self.w_q(x)`, and the same for the others.",
        ],
    ),
    Mistake(
        "layers_of_other_sizes",
        AsManyAsQueries,
        OfOneHead,
        says=(
            "`w_k` and `w_v` have other sizes than those that were given: they make `n_kv_heads` heads, as wide as "
            "those of the queries. Look at `__init__`."
        ),
        hints=[
            AS_GIVEN,
            "How wide are `n_kv_heads` heads of d_model / n_heads features side by side?",
            "`nn.Linear(d_model, d_kv, bias=False)`, where d_kv is `d_model // n_heads * n_kv_heads`.",
        ],
    ),
    Mistake(
        "with_biases",
        WithBiases,
        BiasesOfQueriesKeysAndValues,
        says=(
            "There are layers with biases. Llama's have none, and neither have these; in Qwen 2, those of queries, "
            "keys and values have some. Look at `__init__`."
        ),
        hints=[AS_GIVEN, "How many parameters has `nn.Linear(2, 3)`?", "`bias=False`."],
    ),
]
