"""Multi-head latent attention: the keys and values of all heads are computed from one short vector per token."""

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
    """Attend in each head to keys and values that the head computes from the tokens' latent vectors."""
    keys, values = latent[:, None] @ w_k, latent[:, None] @ w_v
    scores = q @ keys.mT / q.shape[-1] ** 0.5
    return torch.softmax(scores, dim=-1) @ values


def keys(latent, w_k):
    """multiply the latent vectors by `w_k` → the keys, (batch, n_heads, n_key, d)"""
    return latent[:, None] @ w_k


def values(latent, w_v):
    """multiply the latent vectors by `w_v` → the values, (batch, n_heads, n_key, d)"""
    return latent[:, None] @ w_v


def products(q, keys):
    """multiply the queries by the keys → the products of queries and keys, (batch, n_heads, n_query, n_key)"""
    return q @ keys.mT


def scores(products, q):
    """divide the products by √d → the scores: products / √d"""
    return products / q.shape[-1] ** 0.5


def weights(scores):
    """take the softmax over the keys → the weights: each row sums to 1"""
    return torch.softmax(scores, dim=-1)


def output(weights, values):
    """average the values with the weights → the output, (batch, n_heads, n_query, d)"""
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


def joined_by_reshape(w):
    """Reshape the matrices of all heads into one wide matrix, and cut it into heads again."""
    n_heads, r, d = w.shape
    return w.reshape(r, n_heads, d).transpose(0, 1)


MISTAKES = [
    Mistake(
        "one_head_for_all",
        STEPS.but(
            keys=lambda latent, w_k: latent[:, None] @ w_k[:1], values=lambda latent, w_v: latent[:, None] @ w_v[:1]
        ),
        STEPS.but(keys=lambda latent, w_k: latent[:, None] @ w_k[:1]),
        summary="you use the first head's matrix for all heads",
        message=(
            "{summary}, as in multi-query attention, so all heads have the same keys. Which matrix of `w_k` should "
            "head h use?"
        ),
        hints=["`w_k` has one matrix for each head. Which of them affect your result?"],
    ),
    Mistake(
        "mean_of_the_matrices",
        STEPS.but(keys=lambda latent, w_k: latent[:, None] @ w_k.mean(dim=0)),
        STEPS.but(keys=lambda latent, w_k: latent[:, None] @ w_k.sum(dim=0)),
        summary="you sum or average the key matrices of all heads",
        message="{summary}, so every head has the same keys. Which matrix of `w_k` should head h use?",
        hints=["If only the first matrix of `w_k` changes, should the output of the second head change?"],
    ),
    Mistake(
        "averages_over_the_heads",
        STEPS.but(output=lambda weights, values: (weights @ values).mean(dim=1)),
        STEPS.but(output=lambda weights, values: (weights @ values).sum(dim=1)),
        summary="you sum or average the outputs of the heads",
        message="{summary}, so only one output is left. Which dimension should your output keep?",
        hints=["How many dimensions should the output have, and how many does yours have?"],
    ),
    Mistake(
        "merges_the_heads",
        STEPS.but(output=lambda weights, values: (weights @ values).transpose(1, 2).flatten(2)),
        summary="you concatenate the heads",
        message=(
            "{summary}, so your output has 3 dimensions instead of 4. A full attention layer does that in a later "
            "step. Which shape should the output have here?"
        ),
        hints=["How many dimensions should the output have, and how many does yours have?"],
    ),
    Mistake(
        "hides_what_comes_later",
        STEPS.but(weights=lambda scores: torch.softmax(causal(scores), dim=-1)),
        STEPS.but(weights=lambda scores: torch.softmax(causal(scores), dim=-1).nan_to_num()),
        STEPS.but(
            weights=lambda scores: torch.softmax(
                scores.masked_fill(~torch.ones(scores.shape[-2:], dtype=torch.bool).tril(), -torch.inf), dim=-1
            )
        ),
        summary="you hide later keys from earlier queries",
        message=(
            "{summary}, but here all keys come from the cache, so every query may attend to all of them. Where does "
            "your mask come from?"
        ),
        hints=["Does the function have a mask among its arguments?"],
    ),
    Mistake(
        "turned_matrices",
        STEPS.but(keys=lambda latent, w_k: latent[:, None] @ w_k.reshape(len(w_k), w_k.shape[2], -1).mT),
        summary="you reshape and transpose the key matrices",
        message="{summary}, which scrambles their entries. Each matrix already has the right shape, (r, d).",
        hints=["Which dimension of `w_k` should be multiplied with the latent vector, the one of size r or of size d?"],
    ),
    Mistake(
        "matrices_joined_by_reshape",
        STEPS.but(
            w_k=lambda w_k: joined_by_reshape(w_k),
            w_v=lambda w_v: joined_by_reshape(w_v),
        ),
        summary="you put the heads' matrices side by side with `reshape`",
        message=(
            "{summary}. Without a transpose, the reshape from (n_heads, r, d) to (r, n_heads · d) keeps the numbers in "
            "order, so it mixes the heads. Which dimension should come first?"
        ),
        hints=["What is `torch.arange(8).reshape(2, 2, 2).reshape(2, 4)`? Which numbers belong to the first matrix?"],
    ),
]


EXERCISE = Exercise(
    reference=latent_attention,
    steps=STEPS,
    cases=latent_attention_cases,
    points=3,
    verified="Each head computes its own keys and values from the same short latent vectors, so a cache needs only "
    "these.",
    hints=[
        "A latent vector has r = 5 numbers and a key has d = 2. Which shape does the key matrix of one head need?",
        "Each head multiplies the same latent vectors by its own matrices in `w_k` and `w_v`. The rest is scaled "
        "dot-product attention in each head, without a mask, where each score sums d products.",
        "`latent[:, None]` has shape (batch, 1, n_key, r), so it broadcasts against `w_k`, (n_heads, r, d).",
        "`keys = latent[:, None] @ w_k`, the same for the values, and `q @ keys.mT / q.shape[-1] ** 0.5`.",
    ],
    messages={
        "length_scores: latent.shape[-1]": Wording(
            "{summary}. A score is the dot product of a query and a key. How many numbers does each of these vectors "
            "have?",
            summary="you divide the scores by √r, the square root of the *latent* width, instead of √d",
            hints=["With r = 5 and d = 2, how many products do you sum in one score?"],
        ),
        "wrong_input_values": Wording(
            "{summary}, so the values equal the keys. Which matrix turns the latent vectors into values?",
            summary="you compute the values with `w_k`",
            hints=["Where do you use `w_v`?"],
        ),
        "values_exchanged_w_k": Wording(
            "{summary}, so you compare the queries with the values and average the keys. Which matrix should produce "
            "the keys?",
            summary="you swap `w_k` and `w_v`",
            hints=["Which matrix produces the vectors that you compare with the queries?"],
        ),
        "part_left_out_values": Wording(
            "{summary}, so your output has r features instead of d. You may average the latent vectors first. Which "
            "matrix turns the result into values?",
            summary="you average the latent vectors and never apply `w_v`",
            hints=["How wide is your output, and how wide is a value?"],
        ),
        "axis_weights: torch.softmax(scores, dim=-2)": Wording(
            "{summary}, so the weights of a query don't sum to 1. Which `dim` runs over the keys?",
            summary="you take the softmax over the queries",
        ),
    },
    mistakes=MISTAKES,
)
