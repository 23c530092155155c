"""Mistakes in the four layers, and in what goes through which."""

from torch import nn
from torch.nn import functional as F

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_03_heads.multi_head_attention.answer import STEPS, MultiHeadAttention


class LayersOfOneHead(MultiHeadAttention):
    def __init__(self, d_model, n_heads):
        super().__init__(d_model, n_heads)
        d_k = d_model // n_heads
        self.w_q, self.w_k, self.w_v = (nn.Linear(d_k, d_k) for _ in range(3))


class LayersFromAllToOneHead(MultiHeadAttention):
    def __init__(self, d_model, n_heads):
        super().__init__(d_model, n_heads)
        d_k = d_model // n_heads
        self.w_q, self.w_k, self.w_v = (nn.Linear(d_model, d_k) for _ in range(3))


class ReadyMade(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.attention = nn.MultiheadAttention(d_model, n_heads, batch_first=True)

    def forward(self, query, key, value, mask=None):
        return self.attention(query, key, value)[0]


EACH_LAYER = [
    "After `output.sum().backward()`, is there a layer whose `.weight.grad` is None?",
    "Each of the three inputs has a layer of its own.",
]

MISTAKES = [
    Mistake(
        "keys_projected_as_queries",
        STEPS.but(from_key=lambda self, key: self.w_q(key)),
        STEPS.but(from_key=lambda self, key: self.w_q(key), from_value=lambda self, value: self.w_q(value)).attempt,
        does="the keys go through `w_q`",
        says=(
            "`w_k` plays no part: with the same vectors as queries and keys, the score of position i for j would "
            "always be that of j for i. Look at which layer the keys go through."
        ),
        hints=[*EACH_LAYER, "The keys go through `self.w_k`, the values through `self.w_v`."],
    ),
    Mistake(
        "queries_projected_as_keys",
        STEPS.but(from_query=lambda self, query: self.w_k(query)),
        STEPS.but(from_query=lambda self, query: self.w_k(query), from_key=lambda self, key: self.w_q(key)).attempt,
        STEPS.but(from_query=lambda self, query: self.w_v(query)).attempt,
        does="the queries go through a layer that is not theirs",
    ),
    Mistake(
        "values_projected_as_keys",
        STEPS.but(from_value=lambda self, value: self.w_k(value)),
        STEPS.but(from_value=lambda self, value: self.w_q(value)),
        does="the values go through the layer of the keys or of the queries",
    ),
    Mistake(
        "keys_and_values_swapped",
        STEPS.but(from_key=lambda self, value: self.w_k(value), from_value=lambda self, key: self.w_v(key)),
        STEPS.but(from_key=lambda self, value: self.w_v(value), from_value=lambda self, key: self.w_k(key)).attempt,
        does="keys and values have changed places",
    ),
    Mistake(
        "layers_of_keys_and_values_swapped",
        STEPS.but(from_key=lambda self, key: self.w_v(key), from_value=lambda self, value: self.w_k(value)),
        does="the keys go through `w_v`, and the values through `w_k`",
    ),
    Mistake(
        "everything_from_the_query",
        STEPS.but(key=lambda query: query),
        STEPS.but(key=lambda query: query, value=lambda query: query).attempt,
        does="the keys are made from `query`",
        says=(
            "What is asked for in `key` is never looked at: {does}. In self-attention, where the three are one, nobody "
            "would notice. Look at what goes into each layer."
        ),
        hints=["There are three inputs. Does each of them occur in the code?"],
    ),
    Mistake(
        "values_from_the_keys",
        STEPS.but(value=lambda key: key),
        does="the values are made from `key`",
    ),
    Mistake(
        "queries_from_the_keys",
        STEPS.but(query=lambda key: key),
        STEPS.but(query=lambda value: value).attempt,
        does="the queries are made from `key` or `value`",
    ),
    Mistake(
        "not_projected",
        STEPS.but(from_query=lambda query: query, from_key=lambda key: key, from_value=lambda value: value).attempt,
        says=(
            "The inputs are attended to as they come: `w_q`, `w_k` and `w_v` are not used. One step is missing at the "
            "beginning."
        ),
        hints=[
            "After `output.sum().backward()`, is there a layer whose `.weight.grad` is None?",
            "Which features a head compares is learned by the layers. What makes q of `query`?",
            "`self.w_q(query)`, `self.w_k(key)` and `self.w_v(value)`, and only then the split.",
        ],
    ),
    Mistake(
        "no_layer_used",
        STEPS.but(
            from_query=lambda query: query,
            from_key=lambda key: key,
            from_value=lambda value: value,
            output=lambda merged: merged,
        ).attempt,
        says=(
            "The inputs are attended to as they come, and what the heads find is handed back as it is: none of the "
            "four layers is used. A step is missing at the beginning, and one at the end."
        ),
        hints=[
            "After `output.sum().backward()`, which layers have a `.weight.grad`?",
            "What makes q of `query`? And what mixes the heads?",
            "`self.w_q(query)`, `self.w_k(key)` and `self.w_v(value)` before the split, and `self.w_o` at the end.",
        ],
    ),
    Mistake(
        "queries_not_projected",
        STEPS.but(from_query=lambda query: query),
        does="the queries do not go through `w_q`",
    ),
    Mistake(
        "keys_not_projected",
        STEPS.but(from_key=lambda key: key),
        does="the keys do not go through `w_k`",
    ),
    Mistake(
        "values_not_projected",
        STEPS.but(from_value=lambda value: value),
        does="the values do not go through `w_v`",
    ),
    Mistake(
        "biases_left_out",
        STEPS.but(
            from_query=lambda self, query: F.linear(query, self.w_q.weight),
            from_key=lambda self, key: F.linear(key, self.w_k.weight),
            from_value=lambda self, value: F.linear(value, self.w_v.weight),
        ).attempt,
        STEPS.but(
            from_query=lambda self, query: F.linear(query, self.w_q.weight),
            from_key=lambda self, key: F.linear(key, self.w_k.weight),
            from_value=lambda self, value: F.linear(value, self.w_v.weight),
            output=lambda self, merged: F.linear(merged, self.w_o.weight),
        ).attempt,
        STEPS.but(output=lambda self, merged: F.linear(merged, self.w_o.weight)),
        does="the biases of layers are left out",
        says="{does}: their weights are multiplied by hand. Look at how the layers are used.",
        hints=["What does an `nn.Linear` hold besides `weight`?"],
    ),
    Mistake(
        "layers_not_transposed",
        STEPS.but(
            from_query=lambda self, query: query @ self.w_q.weight + self.w_q.bias,
            from_key=lambda self, key: key @ self.w_k.weight + self.w_k.bias,
            from_value=lambda self, value: value @ self.w_v.weight + self.w_v.bias,
        ).attempt,
        STEPS.but(
            from_query=lambda self, query: query @ self.w_q.weight,
            from_key=lambda self, key: key @ self.w_k.weight,
            from_value=lambda self, value: value @ self.w_v.weight,
        ).attempt,
        says=(
            "The weights of the layers are multiplied by hand, and not transposed: an `nn.Linear` keeps them as "
            "(outputs, inputs). Look at how the layers are used."
        ),
        hints=[
            "Which of the two axes of `self.w_q.weight` belongs to the inputs?",
            "A layer can be called like a function, and then does all that it should.",
            "`self.w_q(query)`, and the same for the others.",
        ],
    ),
    Mistake(
        "layers_of_one_head",
        LayersOfOneHead,
        LayersFromAllToOneHead,
        says=(
            "The layers have other sizes than those that were given: these make the features of a single head. All the "
            "heads come out of one layer of d_model to d_model, and are cut afterwards. Look at `__init__`."
        ),
        hints=[
            "How many columns do h heads of width d_model / h need together?",
            "`__init__` was right as it was given.",
            "`nn.Linear(d_model, d_model)`, four times.",
        ],
    ),
    Mistake(
        "ready_made",
        ReadyMade,
        says=(
            "The four layers that were given are gone. A ready-made module brings its own, under other names. Look at "
            "`__init__`."
        ),
        hints=[
            "Which parameters should the module have? `__init__` was right as it was given.",
            "What is asked for is what goes on inside such a module.",
            "Keep `__init__`; in `forward`, project, split, attend, merge, and mix by `self.w_o`.",
        ],
    ),
]
