"""Multi-head attention."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared import attention_mistakes
from transformer_course.exercises.shared.attention_steps import SCALED, fill, mixture, visible, weights
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.exercises.shared.dropout_mistakes import dropped
from transformer_course.exercises.shared.head_steps import merged, output, scores
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


class MultiHeadAttention(nn.Module):
    """Attend with several heads, each of which compares different features."""

    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.w_q = nn.Linear(d_model, d_model)
        self.w_k = nn.Linear(d_model, d_model)
        self.w_v = nn.Linear(d_model, d_model)
        self.w_o = nn.Linear(d_model, d_model)

    def forward(
        self,
        query: Float[Tensor, "batch n_query d_model"],
        key: Float[Tensor, "batch n_key d_model"],
        value: Float[Tensor, "batch n_key d_model"],
        mask: Bool[Tensor, "*#batch #n_query #n_key"] | None = None,
    ) -> Float[Tensor, "batch n_query d_model"]:
        q, k, v = self.w_q(query), self.w_k(key), self.w_v(value)
        q, k, v = (x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for x in (q, k, v))
        scores = q @ k.mT / q.shape[-1] ** 0.5  # (batch, n_heads, n_query, n_key)
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf)
        heads = torch.softmax(scores, dim=-1) @ v
        return self.w_o(heads.transpose(1, 2).flatten(2))


def from_query(self, query):
    """project the queries with `w_q` → the projected queries: `w_q` applied to `query`"""
    return self.w_q(query)


def from_key(self, key):
    """project the keys with `w_k` → the projected keys: `w_k` applied to `key`"""
    return self.w_k(key)


def from_value(self, value):
    """project the values with `w_v` → the projected values: `w_v` applied to `value`"""
    return self.w_v(value)


def split(self):
    """split features into heads → the function that splits features into heads"""
    return lambda x: x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)


def queries(split, from_query):
    """split the queries into heads → the queries of each head"""
    return split(from_query)


def keys(split, from_key):
    """split the keys into heads → the keys of each head"""
    return split(from_key)


def values(split, from_value):
    """split the values into heads → the values of each head"""
    return split(from_value)


def hidden(visible):
    """invert the mask, if there is one → the hidden positions: True where a query may not attend to a key"""
    return None if visible is None else ~visible


STEPS = InSteps(
    from_query,
    from_key,
    from_value,
    split,
    queries,
    keys,
    values,
    *SCALED,
    visible,
    hidden,
    fill,
    scores,
    weights,
    mixture,
    merged,
    output,
    reference=MultiHeadAttention,
)


def multi_head_cases(seed: int) -> list[Case]:
    rng = generator(seed)
    layers = ("w_q", "w_k", "w_v", "w_o")

    def inputs(batch: int, n_query: int, n_key: int, d_model: int) -> dict[str, Tensor]:
        lengths = {"query": n_query, "key": n_key, "value": n_key}
        return {name: normal(rng, batch, n, d_model) for name, n in lengths.items()}

    def case(
        batch: int, n_query: int, n_key: int, d_model: int, n_heads: int, shows: str, *mask: int, later=()
    ) -> Case:
        return Case(
            inputs(batch, n_query, n_key, d_model),
            shows,
            kind="module",
            arguments={"d_model": d_model, "n_heads": n_heads},
            parameters={f"{name}.weight": normal(rng, d_model, d_model) / d_model**0.5 for name in layers}
            | {f"{name}.bias": normal(rng, d_model) for name in layers},
            keywords={"mask": drawn_mask(*mask)} if mask else {},
            later=later,
        )

    def drawn_mask(*shape: int) -> Tensor:
        """Draw a mask that lets every query attend to the first key and hides the last key from every query."""
        mask = torch.rand(*shape, generator=rng) < 0.6
        mask[..., 0], mask[..., -1] = True, False
        return mask

    def zeros() -> Case:
        one = case(1, 2, 3, 4, 2, "a query of zeros, and a mask: all its scores are 0", 2, 3)
        one.parameters["w_q.bias"].zero_()
        one.inputs["query"][:, 0] = 0.0
        one.keywords["mask"][:, 1] = True
        return one

    def far_worse() -> Case:
        one = case(1, 2, 3, 2, 1, "a visible key matches far worse than the others, a hidden key far better", 2, 3)
        for name in ("w_q", "w_k"):
            one.parameters[f"{name}.weight"].copy_(torch.eye(2))
            one.parameters[f"{name}.bias"].zero_()
        one.inputs["query"].abs_().add_(0.5)
        one.inputs["key"][:, 0], one.inputs["key"][:, 2] = -1e8, 200.0
        one.keywords["mask"][:, 1] = torch.tensor([False, True])
        return one

    def extreme() -> Case:
        one = case(1, 3, 4, 2, 1, "very large scores for one query, very small ones for another")
        for name in ("w_q", "w_k"):
            one.parameters[f"{name}.weight"].copy_(torch.eye(2))
            one.parameters[f"{name}.bias"].zero_()
        one.inputs["key"].abs_().add_(0.5)
        one.inputs["query"][:, 0], one.inputs["query"][:, 1] = 130.0, -130.0
        return one

    return [
        case(1, 1, 2, 2, 1, "one head, one query, 2 keys"),
        case(1, 2, 2, 4, 2, "2 heads of width 2, as many keys as queries", later=[inputs(2, 3, 5, 4)]),
        case(1, 2, 3, 4, 2, "a mask of shape (n_query, n_key)", 2, 3, later=[{"mask": None}]),
        zeros(),
        far_worse(),
        extreme(),
        case(1, 3, 3, 4, 2, "a mask for each head", 2, 3, 3, later=[{"mask": drawn_mask(3, 3)}]),
        case(2, 3, 5, 12, 3, "3 heads of width 4, 5 keys for 3 queries"),
        case(2, 4, 5, 12, 2, "a batch of 2 and one mask for all", 4, 5),
        case(3, 4, 7, 12, 4, "a mask of shape (batch, 1, 1, n_key)", 3, 1, 1, 7, later=[inputs(3, 2, 7, 12)]),
        case(5, 13, 17, 28, 4, "a mask of shape (batch, n_heads, n_query, n_key)", 5, 4, 13, 17),
    ]


def split_by_reshaping(self):
    """Return a function that splits into heads without transposing."""
    return lambda x: x.reshape(len(x), self.n_heads, x.shape[1], -1)


def small_projection(layer, x):
    """Apply only the first d rows and columns of a layer, where d is the width of one head."""
    d = x.shape[-1]
    return x @ layer.weight[:d, :d].T + layer.bias[:d]


MISTAKES = [
    Mistake(
        "not_projected",
        STEPS.but(from_query=lambda query: query, from_key=lambda key: key, from_value=lambda value: value),
        summary="you attend with the inputs themselves, without `w_q`, `w_k` and `w_v`",
        message="{summary}, so these layers would never be trained. What should happen to the inputs first?",
        hints=["After `output.sum().backward()`, for which layers is `.weight.grad` None?"],
    ),
    Mistake(
        "projects_after_splitting",
        STEPS.but(
            queries=lambda self, query, split: small_projection(self.w_q, split(query)),
            keys=lambda self, key, split: small_projection(self.w_k, split(key)),
            values=lambda self, value, split: small_projection(self.w_v, split(value)),
        ).attempt,
        message=(
            "You split the inputs first and project every head with the same small block of the weights. Each head "
            "then sees only its own slice of the features. Which should come first, the projection or the split?"
        ),
        hints=[
            "How many of the d_model × d_model weights of `w_q` does your code use?",
            "Project first: a head's queries should depend on all features of the input.",
            "`parts.split_heads(self.w_q(query), self.n_heads)`.",
        ],
    ),
    attention_mistakes.split_by_view(STEPS.but(split=split_by_reshaping)),
    attention_mistakes.heads_interleaved(
        STEPS.but(split=lambda self: lambda x: x.unflatten(-1, (-1, self.n_heads)).permute(0, 3, 1, 2))
    ),
    Mistake(
        "split_and_merged_by_view",
        STEPS.but(split=split_by_reshaping, merged=lambda mixture, query: mixture.reshape(query.shape)),
        summary="you split and merge the heads with reshapes and no transposes",
        message=(
            "{summary}, so each head gets some of the positions instead of some of the features. What is missing after "
            "the first reshape and before the second?"
        ),
        hints=[
            "`parts.split_heads` and `parts.merge_heads` have two steps each. Which of these steps are missing from "
            "your code?"
        ],
    ),
    Mistake(
        "heads_meet_heads",
        STEPS.but(
            split=lambda self: lambda x: x.unflatten(-1, (self.n_heads, -1)),
            merged=lambda mixture: mixture.flatten(2),
        ),
        STEPS.but(split=lambda self: lambda x: x.unflatten(-1, (self.n_heads, -1))),
        summary="you don't move the head dimension in front of the positions",
        message=(
            "{summary}, so your code crashes, or compares the heads of one position with each other instead of "
            "comparing positions. Which dimension should come right after the batch?"
        ),
        hints=["The scores should have shape (batch, n_heads, n_query, n_key). What shape do yours have?"],
    ),
    Mistake(
        "one_big_head",
        STEPS.but(split=lambda self: lambda x: x.unsqueeze(1), merged=lambda mixture: mixture.squeeze(1)),
        STEPS.but(split=lambda self: lambda x: x.unsqueeze(1), merged=lambda mixture: mixture.mean(dim=1)),
        summary="you use one head as wide as the model",
        message=(
            "{summary}, so each sentence has only one matrix of attention weights. Each of the `n_heads` heads should "
            "have its own. Where should you split the features into heads?"
        ),
        hints=["With 4 heads, how many matrices of attention weights should each sentence have?"],
    ),
    *attention_mistakes.of_the_merging(STEPS, "query"),
    Mistake(
        "mask_taken_for_granted",
        STEPS.but(hidden=lambda visible: ~visible).attempt,
        STEPS.but(scores=lambda scaled, visible, fill: scaled.masked_fill(visible == 0, fill)).attempt,
        message=(
            "Your code crashes when `mask` is None because you use it as a tensor. What should happen to the scores "
            "when there is no mask?"
        ),
        hints=[
            "What is `mask` if the caller doesn't pass one?",
            "Without a mask, the scores stay as they are.",
            "`if mask is not None:` before you fill the scores.",
        ],
    ),
    dropped(STEPS, "weights", name="weights_dropped"),
    *attention_mistakes.of_the_heads(STEPS, "query", "n_query"),
    *attention_mistakes.of_a_mask_that_may_be_none(STEPS),
    attention_mistakes.no_scaling(STEPS),
    *attention_mistakes.of_the_mask(STEPS),
    attention_mistakes.softmax_over_the_queries(STEPS),
    attention_mistakes.overflows(STEPS),
    *attention_mistakes.of_the_transposition(STEPS),
    *attention_mistakes.of_the_products(STEPS),
    *attention_mistakes.of_the_mixture(STEPS),
]


EXERCISE = Exercise(
    reference=MultiHeadAttention,
    steps=STEPS,
    cases=multi_head_cases,
    points=4,
    verified=(
        "Every head attends to all positions through its own slice of the projections, and w_o combines the outputs of "
        "the heads."
    ),
    hints=[
        "Multi-head attention takes five steps: project, split into heads, attend, merge, apply w_o. For which steps "
        "do you already have a part?",
        "`parts.split_heads(self.w_q(query), self.n_heads)` has shape (batch, n_heads, n_query, d_k), and attention "
        "works for any leading dimensions, so you can do all heads at once.",
        "Without a mask, use `parts.scaled_dot_product_attention(q, k, v)`. With one, compute the scores yourself, "
        "fill them with `-torch.inf` where the mask is False, and then take the softmax.",
        "`self.w_o(parts.merge_heads(weights @ v))`, where `weights` is `torch.softmax(scores, dim=-1)`, and "
        "`scores` is `q @ k.transpose(-2, -1)` divided by √d_k.",
    ],
    messages={
        "call_left_out_weights": attention_mistakes.WEIGHT_MESSAGES["call_left_out_weights"],
        **attention_mistakes.ROOT_MESSAGES,
        "ignored_mask": Wording(
            "{summary}, so every query attends to all the keys, even to masked keys. Which score should a masked key "
            "get before the softmax?",
            summary="you don't use `mask`",
            hints=["If one entry of the mask changes, should your output change?"],
        ),
        "wrong_input_from_value: key": Wording(
            "{summary}, so `value` has no effect on your output. `key` and `value` are the same tensor in "
            "self-attention, but not in general.",
            summary="you apply `w_v` to `key` instead of `value`",
            hints=["If only `value` changes, should your output change?"],
        ),
        "wrong_layer_from_key: w_q": Wording(
            "{summary}, so queries and keys share a layer, and `w_k` would never be trained.",
            summary="you project the keys with `w_q` instead of `w_k`",
            hints=["After `output.sum().backward()`, for which layers is `.weight.grad` None?"],
        ),
        "wrong_layer_from_value: w_k": Wording(
            "{summary}, so keys and values share a layer, and `w_v` would never be trained.",
            summary="you project the values with `w_k` instead of `w_v`",
            hints=["After `output.sum().backward()`, for which layers is `.weight.grad` None?"],
        ),
        "wrong_layer_from_value: w_q": Wording(
            "{summary}, so queries and values share a layer, and `w_v` would never be trained.",
            summary="you project the values with `w_q` instead of `w_v`",
            hints=["After `output.sum().backward()`, for which layers is `.weight.grad` None?"],
        ),
        "call_left_out_from_key: key": Wording(
            "You use `key` itself instead of `w_k(key)`, so `w_k` would never be trained. Do you use all of the other "
            "three layers: `w_q`, `w_v` and `w_o`?",
            summary="you don't project the keys with `w_k`",
            hints=["After `output.sum().backward()`, for which layers is `.weight.grad` None?"],
        ),
        "call_left_out_from_value: value": Wording(
            "You use `value` itself instead of `w_v(value)`, so `w_v` would never be trained. Do you use all of the "
            "other three layers: `w_q`, `w_k` and `w_o`?",
            summary="you don't project the values with `w_v`",
            hints=["After `output.sum().backward()`, for which layers is `.weight.grad` None?"],
        ),
        **attention_mistakes.SCALING_MESSAGES,
        **attention_mistakes.MASK_MESSAGES,
        "inverted_mask: ~mask if mask is not None else None": attention_mistakes.MASK_INVERTED,
        "wrong_input_width": attention_mistakes.root_of_the_number("keys"),
        "length_width: key.shape[-1]": attention_mistakes.ROOT_OF_D_MODEL,
        "call_left_out_from_query: query": Wording(
            "You use `query` itself instead of `w_q(query)`, so `w_q` would never be trained. Do you use all of the "
            "other three layers: `w_k`, `w_v` and `w_o`?",
            summary="you don't project the queries with `w_q`",
            hints=["After `output.sum().backward()`, for which layers is `.weight.grad` None?"],
        ),
    },
    mistakes=MISTAKES,
)
