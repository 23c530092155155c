"""Mistakes in the four layers, and in what goes through which."""

from torch import nn

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_03_heads.multi_head_attention.answer import STEPS


class ReadyMade(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.attention = nn.MultiheadAttention(d_model, n_heads, batch_first=True)

    def forward(self, query, key, value, mask=None):
        return self.attention(query, key, value)[0]


MISTAKES = [
    Mistake(
        "not_projected",
        STEPS.but(from_query=lambda query: query, from_key=lambda key: key, from_value=lambda value: value),
        does="the inputs are attended to as they come, without `w_q`, `w_k` and `w_v`",
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
