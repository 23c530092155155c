"""What goes wrong with top-p."""

import torch
from torch.nn import functional

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_09_language_model.sample_next.answer import STEPS

BEFORE = "`ranked.cumsum(dim=-1) - ranked` is the mass before each token; where that is ≥ `top_p`, it is superfluous."
HIDE = "`logits.masked_fill(…, -torch.inf)`."


def in_sorted_order(condition):
    """Make the step that finds by another condition what is superfluous, if there is a top_p."""

    def superfluous(candidates, order, mass_before, top_p):
        ranked = candidates.gather(-1, order)
        none = torch.zeros_like(ranked, dtype=torch.bool)
        return none if top_p is None else condition(ranked, ranked.cumsum(dim=-1), mass_before, top_p)

    return superfluous


def in_the_vocabulary(condition):
    """Make the step that drops tokens by another condition, if there is a top_p."""
    return lambda candidates, top_p: (
        torch.zeros_like(candidates, dtype=torch.bool) if top_p is None else condition(candidates, top_p)
    )


def but_the_first(mask):
    """Return a mask in which the first of each row is not marked."""
    return torch.cat([torch.zeros_like(mask[:, :1]), mask[:, 1:]], dim=-1)


MISTAKES = [
    Mistake(
        "no_top_p",
        STEPS.but(superfluous=lambda superfluous: torch.zeros_like(superfluous)),
        does="`top_p` is not used",
    ),
    Mistake(
        "no_top_p_beside_top_k",
        STEPS.but(superfluous=lambda superfluous, top_k: superfluous & (top_k is None)),
        does="`top_p` is not used where there is a `top_k`",
    ),
    Mistake(
        "drops_the_token_that_reaches_p",
        STEPS.but(superfluous=in_sorted_order(lambda ranked, mass, before, top_p: mass > top_p)),
        STEPS.but(superfluous=in_sorted_order(lambda ranked, mass, before, top_p: mass >= top_p)).attempt,
        STEPS.but(superfluous=in_sorted_order(lambda ranked, mass, before, top_p: but_the_first(mass > top_p))),
        STEPS.but(
            superfluous=in_sorted_order(lambda ranked, mass, before, top_p: but_the_first(mass >= top_p))
        ).attempt,
        does="top-p drops the very token with which the mass reaches p",
    ),
    Mistake(
        "keeps_one_more_than_needed",
        STEPS.but(
            superfluous=in_sorted_order(
                lambda ranked, mass, before, top_p: functional.pad(before >= top_p, (1, 0))[:, :-1]
            )
        ),
        does="top-p keeps one token more than are needed",
    ),
    Mistake(
        "sorts_the_least_likely_first",
        STEPS.but(order=lambda candidates: candidates.argsort(dim=-1)),
        STEPS.but(
            order=lambda candidates: candidates.argsort(dim=-1),
            superfluous=in_sorted_order(lambda ranked, mass, before, top_p: mass > top_p),
        ).attempt,
        does="the tokens are sorted with the *least* likely first",
    ),
    Mistake(
        "not_sorted",
        STEPS.but(order=lambda candidates: torch.arange(candidates.shape[-1]).expand(candidates.shape)),
        STEPS.but(
            order=lambda candidates: torch.arange(candidates.shape[-1]).expand(candidates.shape),
            superfluous=in_sorted_order(lambda ranked, mass, before, top_p: mass > top_p),
        ).attempt,
        does="the mass is added up in the order of the vocabulary, not of the probabilities",
    ),
    Mistake(
        "order_not_undone",
        STEPS.but(dropped=lambda superfluous: superfluous),
        does="the mask of top-p stays in sorted order, and is used in the order of the vocabulary",
    ),
    Mistake(
        "order_undone_the_wrong_way",
        STEPS.but(dropped=lambda superfluous, order: superfluous.gather(-1, order)),
        does="the mask is sorted once more, by the same order, instead of being brought back",
    ),
    Mistake(
        "ranks_instead_of_ids",
        STEPS.but(
            nucleus=lambda best_k, superfluous, order, top_p: (
                best_k if top_p is None else best_k.gather(-1, order).masked_fill(superfluous, -torch.inf)
            )
        ),
        does="with a `top_p` the *ranks* of the tokens come out, not their ids",
    ),
    Mistake(
        "keeps_what_is_superfluous",
        STEPS.but(superfluous=in_sorted_order(lambda ranked, mass, before, top_p: before < top_p)),
        STEPS.but(superfluous=in_sorted_order(lambda ranked, mass, before, top_p: mass <= top_p)).attempt,
        does="the mask of top-p is inverted",
    ),
    Mistake(
        "p_is_a_threshold",
        STEPS.but(dropped=in_the_vocabulary(lambda candidates, top_p: candidates < top_p)),
        STEPS.but(dropped=in_the_vocabulary(lambda candidates, top_p: candidates < 1 - top_p)).attempt,
        STEPS.but(
            dropped=in_the_vocabulary(
                lambda candidates, top_p: candidates < top_p * candidates.amax(dim=-1, keepdim=True)
            )
        ).attempt,
        STEPS.but(dropped=in_the_vocabulary(lambda candidates, top_p: candidates > top_p)).attempt,
        does="each probability is compared with p, not the sum of those before it",
        says="Each probability is compared with a number by itself. It is their *sum* that should reach `top_p`.",
        hints=["Ten equally likely tokens and top_p=0.5: how many should be kept?"],
    ),
    Mistake(
        "p_of_the_number_of_tokens",
        STEPS.but(
            superfluous=in_sorted_order(
                lambda ranked, mass, before, top_p: (
                    torch.arange(ranked.shape[-1]).expand(ranked.shape) >= max(int(top_p * ranked.shape[-1]), 1)
                )
            )
        ).attempt,
        does="p is taken for a fraction of the vocabulary, not of the mass",
        says="A fixed fraction of the vocabulary is kept. How many tokens are kept should depend on their mass.",
        hints=[
            "One token of probability 0.9 and nine others: how many are kept with top_p=0.5?",
            "`top_p` is a sum of probabilities.",
            BEFORE,
        ],
    ),
    Mistake(
        "the_rest_of_p",
        STEPS.but(superfluous=in_sorted_order(lambda ranked, mass, before, top_p: before >= 1 - top_p)),
        STEPS.but(
            superfluous=in_sorted_order(lambda ranked, mass, before, top_p: but_the_first(mass > 1 - top_p))
        ).attempt,
        does="the mass is compared with 1 − p",
    ),
    Mistake(
        "top_p_of_the_first_row",
        STEPS.but(superfluous=lambda superfluous: superfluous[:1].expand_as(superfluous)).attempt,
        STEPS.but(dropped=lambda dropped: dropped[:1].expand_as(dropped)).attempt,
        STEPS.but(order=lambda order: order[:1].expand_as(order)).attempt,
        does="what top-p finds for the first row is used for all rows",
        says="What top-p finds for the first row is used for all. Each row has its own order, and its own number.",
        hints=[
            "How many tokens are needed for 65 % of the mass in each of the two rows?",
            "What does the index 0 pick?",
            BEFORE,
        ],
    ),
    Mistake(
        "adds_up_logits",
        STEPS.but(candidates=lambda best_k: best_k),
        STEPS.but(candidates=lambda best_k: best_k.exp()).attempt,
        does="top-p adds up numbers that are not probabilities",
    ),
    Mistake(
        "adds_up_over_the_batch",
        STEPS.but(
            mass_before=lambda candidates, order: (
                candidates.gather(-1, order).cumsum(dim=0) - candidates.gather(-1, order)
            )
        ).attempt,
        does="top-p adds up over the batch, not over the vocabulary",
        says="The mass is added up over the *batch*. It should be over the tokens of each row.",
        hints=[
            "What does the last entry of each row of the sums be? It should be 1.",
            "Which axis of the probabilities is the vocabulary?",
            "`cumsum(dim=-1)`.",
        ],
    ),
    Mistake(
        "top_p_of_all_tokens",
        STEPS.but(candidates=lambda scaled, best_k: scaled.softmax(dim=-1).masked_fill(best_k == -torch.inf, 0.0)),
        does="top-p counts the mass of all tokens, not only of those that top-k leaves",
        says="{does}. Look at what it counts, and which of the two comes first.",
    ),
    Mistake(
        "top_p_fills_with_zero",
        STEPS.but(nucleus=lambda best_k, dropped: best_k.masked_fill(dropped, 0.0)),
        STEPS.but(nucleus=lambda best_k, dropped: best_k * ~dropped).attempt,
        does="the logits that top-p drops become 0, not −∞",
    ),
]
