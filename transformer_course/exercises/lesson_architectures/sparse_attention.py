"""Sparse attention: each query attends to the past tokens that an indexer scores highest."""

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def sparse_attention(
    q: Float[Tensor, "n d_k"],
    k: Float[Tensor, "n d_k"],
    v: Float[Tensor, "n d_v"],
    index_scores: Float[Tensor, "n n"],
    n_kept: int,
) -> Float[Tensor, "n d_v"]:
    """Let each query attend to the n_kept past tokens with the largest index scores."""
    past = torch.ones_like(index_scores, dtype=torch.bool).tril()
    best = index_scores.masked_fill(~past, -torch.inf).topk(n_kept, dim=-1).indices
    mask = past & torch.zeros_like(past).scatter(-1, best, True)
    scores = q @ k.mT / q.shape[-1] ** 0.5
    return torch.softmax(scores.masked_fill(~mask, -torch.inf), dim=-1) @ v


def past(index_scores):
    """let each query attend to itself and earlier tokens → the causal mask, (n, n)"""
    return torch.ones_like(index_scores, dtype=torch.bool).tril()


def candidates(index_scores, past):
    """set the index scores of later tokens to −∞ → the index scores of past tokens"""
    return index_scores.masked_fill(~past, -torch.inf)


def best(candidates, n_kept):
    """find the n_kept largest index scores of each query → the indices of the best tokens, (n, n_kept)"""
    return candidates.topk(n_kept, dim=-1).indices


def chosen(best, past):
    """mark the best tokens of each query → the marks of the best tokens, (n, n)"""
    return torch.zeros_like(past).scatter(-1, best, True)


def mask(past, chosen):
    """combine both masks → the mask: past tokens that are among the best"""
    return past & chosen


def products(q, k):
    """multiply the queries by the keys → the products of queries and keys, (n, n)"""
    return q @ k.mT


def scores(products, q):
    """divide the products by √d_k → the scores: products / √d_k"""
    return products / q.shape[-1] ** 0.5


def masked(scores, mask):
    """set the scores of unselected tokens to −∞ → the masked scores"""
    return scores.masked_fill(~mask, -torch.inf)


def weights(masked):
    """take the softmax over the keys → the weights: each row sums to 1"""
    return torch.softmax(masked, dim=-1)


def output(weights, v):
    """average the values with the weights → the output, (n, d_v)"""
    return weights @ v


STEPS = InSteps(
    past, candidates, best, chosen, mask, products, scores, masked, weights, output, reference=sparse_attention
)


def sparse_attention_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(n: int, d_k: int, d_v: int, n_kept: int, shows: str) -> Case:
        ranks = torch.rand(n, n, generator=rng).argsort(dim=-1)  # no two index scores of a query are close
        inputs = {
            "q": 2 * normal(rng, n, d_k),
            "k": normal(rng, n, d_k),
            "v": normal(rng, n, d_v),
            "index_scores": ranks - n / 2 + 0.3,
            "n_kept": n_kept,
        }
        return Case(inputs, shows)

    readable = {
        "q": torch.zeros(3, 2),
        "k": torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]),
        "v": torch.tensor([[1.0], [10.0], [100.0]]),
        "index_scores": torch.tensor([[0.0, 5.0, 4.0], [3.0, 0.0, 5.0], [2.0, 9.0, 4.0]]),
        "n_kept": 1,
    }
    return [
        Case(readable, "3 tokens, of which each query keeps one; the values are 1, 10 and 100"),
        case(4, 2, 3, 2, "4 tokens, of which each query keeps 2"),
        case(4, 3, 2, 4, "4 tokens, of which each query keeps 4: causal attention"),
        case(5, 5, 5, 1, "5 tokens, of which each query keeps one"),
        case(7, 3, 5, 3, "7 tokens, of which each query keeps 3"),
        case(31, 8, 5, 6, "31 tokens, of which each query keeps 6"),
    ]


FIRST = "In the first case, which tokens may the first query attend to, and which do you let it keep?"

MISTAKES = [
    Mistake(
        "future_takes_the_places",
        STEPS.but(candidates=lambda index_scores: index_scores),
        STEPS.but(candidates=lambda index_scores: index_scores, weights=lambda masked: masked.softmax(-1).nan_to_num()),
        summary="you let later tokens compete for the n_kept places",
        message=(
            "{summary}, and you mask them out only afterwards. If a query's highest-scoring tokens all come later, "
            "it has no tokens left to attend to. When should you mask out the later tokens?"
        ),
        hints=[FIRST],
    ),
    Mistake(
        "chooses_by_attention",
        STEPS.but(candidates=lambda past, products: products.masked_fill(~past, -torch.inf)),
        summary="you choose the tokens by the attention scores",
        message=(
            "{summary}, so every query is still compared with every key. The cheap `index_scores` are there to avoid "
            "that. Where do you use them?"
        ),
        hints=["If only `index_scores` changes, should the output change? Does yours?"],
    ),
    Mistake(
        "one_choice_for_all",
        STEPS.but(
            best=lambda candidates, n_kept: candidates[-1:].topk(n_kept, dim=-1).indices.expand(len(candidates), -1)
        ),
        STEPS.but(
            best=lambda index_scores, n_kept: (
                index_scores.mean(dim=0, keepdim=True).topk(n_kept, dim=-1).indices.expand(len(index_scores), -1)
            )
        ),
        summary="you choose one set of tokens for all queries",
        message=(
            "{summary}, but each row of `index_scores` has the scores for one query. How many sets of tokens should "
            "you choose for n queries?"
        ),
        hints=["How many rows does your tensor of chosen indices have?"],
    ),
    Mistake(
        "worst_tokens",
        STEPS.but(
            best=lambda index_scores, past, n_kept: (
                index_scores.masked_fill(~past, torch.inf).topk(n_kept, dim=-1, largest=False).indices
            )
        ),
        summary="you keep the tokens with the smallest index scores",
        message=(
            "{summary}, but the indexer gives the largest score to the token that matters most. Which end of the "
            "sorted scores should you take?"
        ),
        hints=["In the first case, the last query has the index scores 2, 9 and 4. Which token should it keep?"],
    ),
    Mistake(
        "index_scores_are_the_scores",
        STEPS.but(masked=lambda index_scores, mask: index_scores.masked_fill(~mask, -torch.inf)),
        summary="you take the softmax of the index scores",
        message=(
            "{summary}, but the index scores should only choose the tokens. The weights of the chosen tokens come from "
            "the queries and keys. Where do you use `q`?"
        ),
        hints=["If only `q` changes, should the output change? Does yours?"],
    ),
    Mistake(
        "chosen_after_the_softmax",
        STEPS.but(
            masked=lambda scores, past: scores.masked_fill(~past, -torch.inf),
            output=lambda weights, mask, v: (weights * mask) @ v,
        ),
        summary="you mask out the tokens that are not chosen only after the softmax",
        message=(
            "{summary}, so the remaining weights sum to less than 1. Which should come first, the mask or the softmax?"
        ),
        hints=["What do the weights of the last query sum to after you remove the other tokens?"],
    ),
]


EXERCISE = Exercise(
    reference=sparse_attention,
    steps=STEPS,
    cases=sparse_attention_cases,
    points=3,
    stretch=True,
    verified="Each query attends to its best past tokens only, and never to later ones.",
    hints=[
        "In the first case, the first query has the index scores 0, 5 and 4, and may keep one token. Which one?",
        "Exclude the later tokens first, choose the best of the past tokens for each query, and then attend with a "
        "mask. Early queries have fewer than n_kept past tokens.",
        "`topk(n_kept, dim=-1).indices` names the best tokens of each query, and `torch.zeros_like(past).scatter(-1, "
        "best, True)` turns these indices into a mask. Combine it with the causal mask.",
        "`best = index_scores.masked_fill(~past, -torch.inf).topk(n_kept, dim=-1).indices`, and attend with the mask "
        "`past & torch.zeros_like(past).scatter(-1, best, True)`.",
    ],
    mistakes=MISTAKES,
)
