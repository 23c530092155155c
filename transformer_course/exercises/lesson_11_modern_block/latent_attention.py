"""Multi-head latent attention: keys and values of all heads from one short vector a token."""

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def latent_attention(
    q: Float[Tensor, "batch n_heads n_query d"],
    latent: Float[Tensor, "batch n_key r"],
    w_k: Float[Tensor, "n_heads r d"],
    w_v: Float[Tensor, "n_heads r d"],
) -> Float[Tensor, "batch n_heads n_query d"]:
    """Let each head attend to keys and values that it makes, by matrices of its own, of the tokens' latent vectors."""
    keys, values = latent[:, None] @ w_k, latent[:, None] @ w_v
    scores = q @ keys.mT / q.shape[-1] ** 0.5
    return torch.softmax(scores, dim=-1) @ values


def keys(latent, w_k):
    """let each head make keys of the latent vectors → the keys, (batch, n_heads, n_key, d)"""
    return latent[:, None] @ w_k


def values(latent, w_v):
    """let each head make values of the latent vectors → the values, (batch, n_heads, n_key, d)"""
    return latent[:, None] @ w_v


def products(q, keys):
    """multiply queries by keys → the products of queries and keys, (batch, n_heads, n_query, n_key)"""
    return q @ keys.mT


def scores(products, q):
    """divide by the root of the width of a query → the scores: products / √d"""
    return products / q.shape[-1] ** 0.5


def weights(scores):
    """take the softmax over the keys → the weights: each row adds up to 1"""
    return torch.softmax(scores, dim=-1)


def output(weights, values):
    """take the weighted average of the values → the output, (batch, n_heads, n_query, d)"""
    return weights @ values


STEPS = InSteps(keys, values, products, scores, weights, output, reference=latent_attention)


def latent_attention_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(batch, n_heads, n_query, n_key, r, d, shows):
        inputs = {
            "q": normal(rng, batch, n_heads, n_query, d),
            "latent": normal(rng, batch, n_key, r),
            "w_k": normal(rng, n_heads, r, d),
            "w_v": normal(rng, n_heads, r, d),
        }
        return Case(inputs, shows)

    return [
        case(1, 1, 1, 2, 2, 1, "one head, one query, 2 tokens"),
        case(1, 2, 1, 3, 2, 3, "2 heads, one query, 3 tokens with 2 latent numbers each"),
        case(1, 3, 2, 4, 5, 2, "3 heads, 2 queries, 4 tokens with 5 latent numbers each"),
        case(3, 2, 1, 5, 4, 6, "3 texts, 2 heads, one query, 5 tokens"),
        case(2, 5, 7, 11, 3, 4, "2 texts, 5 heads, 7 queries, 11 tokens"),
    ]


def causal(scores):
    n_query, n_key = scores.shape[-2:]
    allowed = torch.ones(n_query, n_key, dtype=torch.bool).tril(n_key - n_query)
    return scores.masked_fill(~allowed, -torch.inf)


MISTAKES = [
    Mistake(
        "one_head_for_all",
        STEPS.but(
            keys=lambda latent, w_k: latent[:, None] @ w_k[:1], values=lambda latent, w_v: latent[:, None] @ w_v[:1]
        ),
        STEPS.but(keys=lambda latent, w_k: latent[:, None] @ w_k[:1]),
        summary="all heads use the keys of the first head",
        message="All heads use what the *first* head makes of the latent vectors: that is multi-query attention.",
        hints=["`w_k` has a matrix for each head. Which of them counts in your result?"],
    ),
    Mistake(
        "mean_of_the_matrices",
        STEPS.but(keys=lambda latent, w_k: latent[:, None] @ w_k.mean(dim=0)),
        STEPS.but(keys=lambda latent, w_k: latent[:, None] @ w_k.sum(dim=0)),
        summary="the heads' matrices of keys are put together into one",
        hints=["Does the second head of your result change if only the first matrix of `w_k` does?"],
    ),
    Mistake(
        "averages_over_the_heads",
        STEPS.but(output=lambda weights, values: (weights @ values).mean(dim=1)),
        STEPS.but(output=lambda weights, values: (weights @ values).sum(dim=1)),
        summary="the heads' outputs are put together into one",
        hints=["How many axes has the output that is asked for?"],
    ),
    Mistake(
        "merges_the_heads",
        STEPS.but(output=lambda weights, values: (weights @ values).transpose(1, 2).flatten(2)),
        summary="the heads are put side by side",
        message="{summary}. That comes later; here each head keeps its own axis.",
        hints=["How many axes has the output that is asked for?"],
    ),
    Mistake(
        "hides_what_comes_later",
        STEPS.but(weights=lambda scores: torch.softmax(causal(scores), dim=-1)),
        STEPS.but(weights=lambda scores: torch.softmax(causal(scores), dim=-1).nan_to_num()),
        summary="later keys are hidden from earlier queries",
        message="{summary}. Here all keys are in the cache, so all are past.",
        hints=["Is a mask among the arguments?"],
    ),
    Mistake(
        "turned_matrices",
        STEPS.but(keys=lambda latent, w_k: latent[:, None] @ w_k.reshape(len(w_k), w_k.shape[2], -1).mT),
        summary="the matrices of the keys are reshaped and then transposed",
        message="{summary}, which mixes their numbers. They have the right shape, (r, d), as they are.",
        hints=["Which axis of `w_k` meets the latent vector? Where does it stand already?"],
    ),
]


EXERCISE = Exercise(
    reference=latent_attention,
    steps=STEPS,
    cases=latent_attention_cases,
    points=3,
    verified="Each head makes its own keys and values of the same short vectors: these are all that is cached.",
    hints=[
        "`latent[:, None]` has the shape (batch, 1, n_key, r). Its product with `w_k`, (n_heads, r, d), is the keys.",
        "The values come in the same way from `w_v`.",
        "The rest is scaled dot-product attention for each head: no mask, and a score adds up d products.",
    ],
    messages={
        "length_scores: latent.shape[-1]": Wording(
            "{summary}. A product adds up as many numbers as a query has.",
            summary="the products are divided by the root of the *latent* width",
            hints=["How many products are added up in one score?"],
        ),
        "wrong_input_values": Wording(
            "{summary}. Both come from the same latent vector, but by different matrices.",
            summary="the keys serve as values, too",
            hints=["What is `w_v` for?"],
        ),
        "values_exchanged_w_k": Wording(
            summary="`w_v` makes the keys and `w_k` the values",
            hints=["Which matrix belongs to what queries are compared with?"],
        ),
        "part_left_out_values": Wording(
            "{summary}. One may do that first, if `w_v` comes afterwards.",
            summary="the latent vectors are averaged, and no values are made of them",
            hints=["How wide is your output, and how wide are the values?"],
        ),
    },
    mistakes=MISTAKES,
)
