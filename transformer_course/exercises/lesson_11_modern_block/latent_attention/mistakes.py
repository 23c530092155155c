"""What goes wrong when keys and values are made of latent vectors."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_11_modern_block.latent_attention.answer import STEPS


def causal(scores):
    n_query, n_key = scores.shape[-2:]
    allowed = torch.ones(n_query, n_key, dtype=torch.bool).tril(n_key - n_query)
    return scores.masked_fill(~allowed, -torch.inf)


MISTAKES = [
    Mistake(
        "root_of_the_latent_width",
        STEPS.but(scores=lambda products, latent: products / latent.shape[-1] ** 0.5),
        does="the products are divided by the root of the *latent* width",
        says="{does}. A product adds up as many numbers as a query has.",
        hints=["How many products are added up in one score?"],
    ),
    Mistake(
        "one_head_for_all",
        STEPS.but(
            keys=lambda latent, w_k: latent[:, None] @ w_k[:1], values=lambda latent, w_v: latent[:, None] @ w_v[:1]
        ),
        STEPS.but(keys=lambda latent, w_k: latent[:, None] @ w_k[:1]),
        does="all heads use the keys of the first head",
        says="All heads use what the *first* head makes of the latent vectors: that is multi-query attention.",
        hints=["`w_k` has a matrix for each head. Which of them counts in your result?"],
    ),
    Mistake(
        "mean_of_the_matrices",
        STEPS.but(keys=lambda latent, w_k: latent[:, None] @ w_k.mean(dim=0)),
        STEPS.but(keys=lambda latent, w_k: latent[:, None] @ w_k.sum(dim=0)),
        does="the heads' matrices of keys are put together into one",
        hints=["Does the second head of your result change if only the first matrix of `w_k` does?"],
    ),
    Mistake(
        "values_are_the_keys",
        STEPS.but(values=lambda keys: keys),
        does="the keys serve as values, too",
        says="{does}. Both come from the same latent vector, but by different matrices.",
        hints=["What is `w_v` for?"],
    ),
    Mistake(
        "exchanges_keys_and_values",
        STEPS.but(keys=lambda latent, w_v: latent[:, None] @ w_v, values=lambda latent, w_k: latent[:, None] @ w_k),
        does="`w_v` makes the keys and `w_k` the values",
        hints=["Which matrix belongs to what queries are compared with?"],
    ),
    Mistake(
        "latent_vectors_as_values",
        STEPS.but(output=lambda weights, latent: weights @ latent[:, None]),
        does="the latent vectors are averaged, and no values are made of them",
        says="{does}. One may do that first, if `w_v` comes afterwards.",
        hints=["How wide is your output, and how wide are the values?"],
    ),
    Mistake(
        "averages_over_the_heads",
        STEPS.but(output=lambda weights, values: (weights @ values).mean(dim=1)),
        STEPS.but(output=lambda weights, values: (weights @ values).sum(dim=1)),
        does="the heads' outputs are put together into one",
        hints=["How many axes has the output that is asked for?"],
    ),
    Mistake(
        "merges_the_heads",
        STEPS.but(output=lambda weights, values: (weights @ values).transpose(1, 2).flatten(2)),
        does="the heads are put side by side",
        says="{does}. That comes later; here each head keeps its own axis.",
        hints=["How many axes has the output that is asked for?"],
    ),
    Mistake(
        "hides_what_comes_later",
        STEPS.but(weights=lambda scores: torch.softmax(causal(scores), dim=-1)),
        STEPS.but(weights=lambda scores: torch.softmax(causal(scores), dim=-1).nan_to_num()),
        does="later keys are hidden from earlier queries",
        says="{does}. Here all keys are in the cache, so all are past.",
        hints=["Is a mask among the arguments?"],
    ),
    Mistake(
        "turned_matrices",
        STEPS.but(keys=lambda latent, w_k: latent[:, None] @ w_k.reshape(len(w_k), w_k.shape[2], -1).mT),
        does="the matrices of the keys are reshaped and then transposed",
        says="{does}, which mixes their numbers. They have the right shape, (r, d), as they are.",
        hints=["Which axis of `w_k` meets the latent vector? Where does it stand already?"],
    ),
]
