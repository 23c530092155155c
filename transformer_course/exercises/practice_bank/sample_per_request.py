"""Sample the next token for a batch of requests, each with its own top-k and top-p, as a server does.

``sample_next`` in lesson 09 has one temperature, top-k and top-p for all rows.
"""

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared.draw_cases import generator, uniform
from transformer_course.running.case import Case
from transformer_course.steps import InSteps

N_SAMPLES, N_CERTAIN = 1000, 50
"""Numbers of samples drawn from each row. The smaller number applies if only one token is possible."""


def sample_per_request(
    logits: Float[Tensor, "batch vocab_size"],
    top_k: Int[Tensor, " batch"],
    top_p: Float[Tensor, " batch"],
    generator: torch.Generator | None = None,
) -> Int[Tensor, " batch"]:
    """Draw a token for each row from its `top_k` likeliest tokens, and of these from the smallest set with `top_p`."""
    ranked, order = logits.softmax(dim=-1).sort(dim=-1, descending=True)
    ranked = ranked * (torch.arange(logits.shape[1]) < top_k[:, None])
    ranked = ranked / ranked.sum(dim=-1, keepdim=True)
    nucleus = ranked * (ranked.cumsum(dim=-1) - ranked < top_p[:, None])  # the mass before each token
    places = torch.multinomial(nucleus, 1, generator=generator)
    return order.gather(-1, places).squeeze(-1)


def probabilities(logits):
    """take the softmax → the probabilities of all tokens"""
    return logits.softmax(dim=-1)


def order(probabilities):
    """sort the tokens of each row, the likeliest first → the ids of the tokens, the likeliest first"""
    return probabilities.argsort(dim=-1, descending=True)


def ranked(probabilities, order):
    """sort the probabilities → the sorted probabilities"""
    return probabilities.gather(-1, order)


def within_k(order, top_k):
    """mark the first top_k tokens of each row → the mask of the tokens that top-k keeps, in sorted order"""
    return torch.arange(order.shape[-1]) < top_k[:, None]


def best_k(ranked, within_k):
    """set the probabilities that top-k drops to 0 → the sorted probabilities after top-k"""
    return ranked * within_k


def renormalized(best_k):
    """divide each row by its sum → the renormalized probabilities after top-k"""
    return best_k / best_k.sum(dim=-1, keepdim=True)


def mass_before(renormalized):
    """add up the probabilities before each token → the mass before each token, in sorted order"""
    return renormalized.cumsum(dim=-1) - renormalized


def within_p(mass_before, top_p):
    """mark the tokens whose preceding mass is below top_p → the mask of the tokens that top-p keeps, sorted"""
    return mass_before < top_p[:, None]


def nucleus(renormalized, within_p):
    """set the probabilities that top-p drops to 0 → the sorted probabilities after top-p"""
    return renormalized * within_p


def places(nucleus, generator):
    """draw a position for each row, with the generator → the drawn positions: in sorted order, (batch, 1)"""
    return torch.multinomial(nucleus, 1, generator=generator)


def tokens(order, places):
    """look up the token at each drawn position → the tokens, (batch)"""
    return order.gather(-1, places).squeeze(-1)


STEPS = InSteps(
    probabilities, order, ranked, within_k, best_k, renormalized, mass_before, within_p, nucleus, places, tokens,
    reference=sample_per_request,
)  # fmt: skip


def sample_per_request_cases(seed: int) -> list[Case]:
    """Return cases with shuffled probabilities whose sums are far from every top_p or exactly equal to it.

    Therefore, rounding does not matter.
    """
    rng = generator(seed)

    def case(rows, top_k, top_p, shows, n_samples=N_SAMPLES):
        shuffled = [torch.tensor(row)[torch.randperm(len(row), generator=rng)] for row in rows]
        logits = torch.stack([row.log() + uniform(rng, -2.0, 2.0) for row in shuffled])
        inputs = {"logits": logits, "top_k": torch.tensor(top_k), "top_p": torch.tensor(top_p)}
        return Case(inputs, shows, kind="sampler", n_samples=n_samples)

    def exact(top_p, shows):
        """Return a case with probabilities 1/2, 1/4, 1/8, 1/8, whose softmax and sums are exact in floating point."""
        row = -math.log(2) * torch.tensor([0.0, 1.0, 2.0, 2.0])[torch.randperm(4, generator=rng)]
        inputs = {
            "logits": row.repeat(len(top_p), 1),
            "top_k": torch.tensor([4] * len(top_p)),
            "top_p": torch.tensor(top_p),
        }
        return Case(inputs, shows, kind="sampler", n_samples=N_SAMPLES)

    steep, even = [0.5, 0.25, 0.12, 0.08, 0.05], [0.3, 0.25, 0.2, 0.15, 0.1]
    large = [0.25, 0.17, 0.13, 0.11, 0.09, 0.07, 0.06, 0.05, 0.04, 0.03]
    return [
        case([[1.0, 0.0, 0.0]], [3], [1.0], "a single token is possible", 1),
        case([steep, even], [1, 1], [1.0, 1.0], "the likeliest token alone", N_CERTAIN),
        case([steep, even, steep], [5, 5, 5], [0.04, 0.04, 0.04], "a mass that the likeliest token has alone",
             N_CERTAIN),
        case([steep, even], [5, 5], [1.0, 1.0], "two requests without a limit"),
        case([even, even], [2, 4], [1.0, 1.0], "top-k of 2 and of 4"),
        case([even, steep], [5, 5], [0.65, 0.8], "top-p of 0.65 and of 0.8"),
        exact([0.5, 1.0], "a mass of exactly top-p"),
        case([even, steep, even], [3, 9, 1], [0.5, 0.6, 0.9], "3 requests, each with its own limits"),
        case([large, large[::-1], large], [7, 10, 4], [0.9, 0.5, 0.7], "10 tokens and 3 requests"),
    ]  # fmt: skip


MISTAKES = [
    Mistake(
        "stops_before_the_mass_is_reached",
        STEPS.but(
            within_p=lambda mass_before, renormalized, top_p, order: (
                (mass_before + renormalized <= top_p[:, None]) | (torch.arange(order.shape[-1]) == 0)
            )
        ),
        STEPS.but(within_p=lambda mass_before, renormalized, top_p: mass_before + renormalized <= top_p[:, None]),
        summary="you drop the token that brings the mass to top-p",
        message="You compare the mass *including* each token with top-p, so you drop the token that reaches it. The "
        "nucleus is the smallest set whose mass is at least p. Which mass decides whether a token is still needed?",
        hints=["Probabilities 0.5, 0.3, 0.2 and p = 0.6: which tokens form the smallest set with at least 0.6?"],
    ),
    Mistake(
        "one_token_too_many",
        STEPS.but(
            within_p=lambda within_p: torch.cat([torch.ones_like(within_p[:, :1]), within_p[:, :-1]], dim=-1)
        ).attempt,
        message=(
            "Your nucleus has one token too many. You need to shift the mask by one place only if you compute it "
            "from the mass *including* each token. Which mass does your mask use?"
        ),
        hints=[
            "Probabilities 0.5, 0.3, 0.2 and p = 0.4: how many tokens form the smallest set with at least 0.4?",
            "A token is needed as long as the mass of the tokens *before* it is below p. The first token always is.",
            "`ranked.cumsum(dim=-1) - ranked < top_p[:, None]` marks the tokens that are needed, without any shift.",
        ],
    ),
    Mistake(
        "one_more_where_p_is_reached_exactly",
        STEPS.but(within_p=lambda mass_before, top_p: mass_before <= top_p[:, None]),
        summary="you keep one token too many in top-p if the mass is exactly p",
        message="If the mass is exactly `top_p`, you keep one token too many. With a `top_p` of 0.5, is a set with a "
        "mass of 0.5 large enough?",
        hints=[
            "With probabilities 1/2, 1/4, 1/8 and 1/8 and a `top_p` of 0.5, how many tokens are enough, and how many "
            "do you keep?"
        ],
    ),
    Mistake(
        "places_instead_of_tokens",
        STEPS.but(tokens=lambda places: places.squeeze(-1)),
        summary="you return positions in the sorted order instead of tokens",
        message=(
            "You return the position in the *sorted* order, so 0 means the likeliest token of a row. Which tensor "
            "holds the token at each position?"
        ),
        hints=["If token 7 is the likeliest and is drawn, which number do you return?"],
    ),
    Mistake(
        "limits_of_the_first_request",
        STEPS.but(top_k=lambda top_k: top_k[:1].expand_as(top_k), top_p=lambda top_p: top_p[:1].expand_as(top_p)),
        STEPS.but(top_k=lambda top_k: top_k[:1].expand_as(top_k)),
        STEPS.but(top_p=lambda top_p: top_p[:1].expand_as(top_p)),
        summary="you use the limits of the first request for all",
        message="You use the limits of the first request for every row. Which shape lets each row be compared with its "
        "own limit?",
        hints=["With `top_k` [2, 4], how many tokens can the second request get in your code?"],
    ),
    Mistake(
        "largest_k_for_all",
        STEPS.but(top_k=lambda top_k: top_k.max().expand_as(top_k)),
        summary="you use the largest top-k for every row",
        message="You use the largest top-k of the batch for every row. `topk` needs one number, but each request "
        "has its own. How can you mark the first k places of a sorted row, with a different k per row?",
        hints=["With `top_k` [2, 4], how many tokens can the first request get in your code?"],
    ),
    Mistake(
        "top_p_of_the_full_distribution",
        STEPS.but(mass_before=lambda ranked: ranked.cumsum(dim=-1) - ranked),
        summary="you compute the mass for top-p from probabilities that are not renormalized after top-k",
        message=(
            "You compute the mass for top-p from probabilities that are not renormalized after top-k. What should "
            "the probabilities that top-k keeps sum to?"
        ),
        hints=["Probabilities 0.4, 0.3, 0.2, 0.1 with top_k 2: what are the two probabilities that are left?"],
    ),
    Mistake(
        "always_the_likeliest",
        STEPS.but(places=lambda nucleus: nucleus.argmax(dim=-1, keepdim=True)),
        summary="you always take the likeliest token",
        message=(
            "You always take the likeliest token, which is greedy decoding. Sampling should draw each token of the "
            "nucleus in proportion to its probability. Which function of PyTorch draws?"
        ),
        hints=["If two tokens have 0.6 and 0.4, how often should the second one come?"],
    ),
    Mistake(
        "evenly_within_the_nucleus",
        STEPS.but(places=lambda nucleus, generator: torch.multinomial((nucleus > 0).float(), 1, generator=generator)),
        summary="you draw all tokens of the nucleus equally often",
        message="You draw every token of the nucleus equally often. Their probabilities should still count. What do "
        "you pass to `torch.multinomial`?",
        hints=["If two tokens have 0.6 and 0.4, how often should the second one come?"],
    ),
    Mistake(
        "top_k_keeps_one_too_many",
        STEPS.but(within_k=lambda order, top_k: torch.arange(order.shape[-1]) <= top_k[:, None]),
        summary="your top-k keeps one token too many",
        message="Your top-k keeps k + 1 tokens: places count from 0, so the first k places are 0 to k − 1. Which "
        "comparison leaves place k out?",
        hints=["For a `top_k` of 1, how many tokens can come in your code?"],
    ),
    Mistake(
        "no_top_p",
        STEPS.but(within_p=lambda mass_before: torch.ones_like(mass_before, dtype=torch.bool)),
        summary="your draws don't depend on `top_p`",
        message="You draw from all tokens that top-k leaves, whatever `top_p` is. Which tokens should a `top_p` of 0.5 "
        "leave of the probabilities 0.6, 0.3 and 0.1?",
        hints=["For a `top_p` near 0, how many tokens should be left?"],
    ),
]

EXERCISE = Exercise(
    reference=sample_per_request,
    steps=STEPS,
    cases=sample_per_request_cases,
    points=3,
    stretch=True,
    verified="Every request gets its own tokens, as often as it should and never beyond its own limits, and the "
    "same seed draws the same tokens.",
    hints=[
        "Two requests share a batch: one allows 2 tokens, the other 4. `topk` takes one k. After sorting each row, "
        "which places belong to each request?",
        "Sort each row in descending order. Then both limits are masks over places: place < k, and mass before the "
        "place < p. Sampling from the sorted row gives a place, which leads back to a token.",
        "Softmax, sort, zero all places from k on, divide by the sum, zero all places whose mass before them is at "
        "least p, draw a place with `torch.multinomial`, and look up the token.",
        "`torch.arange(vocab_size) < top_k[:, None]` is the first mask, "
        "`ranked.cumsum(dim=-1) - ranked < top_p[:, None]` the second.",
    ],
    messages={
        "turned_off_order": Wording(
            "You sort in ascending order, so top-k and top-p keep the *least* likely tokens. Which token should be "
            "first?",
            summary="you sort the tokens in ascending order",
            hints=["With a `top_k` of 1, which token can come in your code?"],
        ),
        "part_left_out_mass_before: renormalized.cumsum(dim=-1)": Wording(
            "{summary}, so you drop the token that reaches `top_p`, or all tokens if the first one reaches it alone. "
            "Which mass decides whether a token is still needed?",
            summary="you count each token's own probability in the mass before it",
        ),
    },
    mistakes=MISTAKES,
)
