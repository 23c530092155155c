"""What goes wrong with the temperature, with top-k and top-p, and with the draw itself."""

import torch
from torch.nn import functional

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_09_language_model.sample_next.answer import STEPS


def if_wanted(change):
    """Make the step that hides logits by top-k, if there is a top_k."""
    return lambda scaled, smallest, top_k: scaled if top_k is None else change(scaled, smallest)


def kept(number):
    """Make the step that keeps another number of tokens, if there is a top_k."""
    return lambda top_k, logits: logits.shape[-1] if top_k is None else min(number(top_k), logits.shape[-1])


def where_the_mass(condition):
    """Make the step that finds what is superfluous by the mass with each token and before it, if there is a top_p."""

    def superfluous(candidates, order, mass_before, top_p):
        mass = mass_before + candidates.gather(-1, order)
        none = torch.zeros_like(mass, dtype=torch.bool)
        return none if top_p is None else condition(mass, mass_before, top_p)

    return superfluous


def in_the_vocabulary(condition):
    """Make the step that drops tokens by another condition, if there is a top_p."""
    return lambda candidates, dropped, top_p: dropped if top_p is None else condition(candidates, top_p)


def but_the_first(mask):
    """Return a mask in which the first of each row is not marked."""
    return torch.cat([torch.zeros_like(mask[:, :1]), mask[:, 1:]], dim=-1)


TEMPERATURE = [
    Mistake(
        "multiplies_by_the_temperature",
        STEPS.but(scaled=lambda logits, temperature: logits * temperature),
        summary="the logits are multiplied by the temperature",
    ),
    Mistake(
        "no_temperature",
        STEPS.but(scaled=lambda logits: logits),
        summary="the temperature has no effect",
    ),
    Mistake(
        "temperature_at_the_end",
        STEPS.but(
            scaled=lambda logits: logits,
            probabilities=lambda nucleus, temperature: (nucleus / temperature).softmax(-1),
        ),
        summary="the temperature comes after top-p, not before",
    ),
    Mistake(
        "temperature_after_the_softmax",
        STEPS.but(
            probabilities=lambda nucleus, logits: logits.masked_fill(nucleus == -torch.inf, -torch.inf).softmax(-1)
        ),
        summary="the temperature decides what top-p keeps, and the rest is drawn without it",
    ),
    Mistake(
        "softmax_twice",
        STEPS.but(logits=lambda logits: logits.softmax(dim=-1)),
        STEPS.but(scaled=lambda scaled: scaled.softmax(dim=-1)).attempt,
        STEPS.but(probabilities=lambda probabilities: probabilities.softmax(dim=-1)),
        summary="a softmax is taken of probabilities",
        message=(
            "A softmax is taken of what are probabilities already. That makes all tokens nearly equally likely, also "
            "those with a probability of 0."
        ),
        hints=["What is the softmax of 1, 0, 0?"],
    ),
    Mistake(
        "exponentials_overflow",
        STEPS.but(probabilities=lambda nucleus: nucleus.exp()),
        STEPS.but(probabilities=lambda nucleus: nucleus.exp() / nucleus.exp().sum(dim=-1, keepdim=True)).attempt,
        summary="`exp` is taken of the logits as they are, which overflows at a low temperature",
        message=(
            "`exp` is taken of the logits as they are. At a low temperature they are large, and the exponentials "
            "infinite, or all 0."
        ),
        hints=["What is `torch.tensor(2.0 / 0.001).exp()`? And with −2?"],
    ),
]

TOP_K = [
    Mistake(
        "no_top_k",
        STEPS.but(n_kept=lambda logits: logits.shape[-1]),
        summary="`top_k` is not used",
    ),
    Mistake(
        "drops_the_last_of_the_k",
        STEPS.but(best_k=if_wanted(lambda scaled, smallest: scaled.masked_fill(scaled <= smallest, -torch.inf))),
        STEPS.but(n_kept=kept(lambda top_k: max(top_k - 1, 1))).attempt,
        summary="top-k keeps one token too few",
    ),
    Mistake(
        "keeps_one_too_many",
        STEPS.but(n_kept=kept(lambda top_k: top_k + 1)),
        summary="top-k keeps one token too many",
    ),
    Mistake(
        "keeps_the_largest_only",
        STEPS.but(
            smallest=lambda scaled, smallest, top_k: smallest if top_k is None else scaled.amax(-1, keepdim=True)
        ),
        summary="with any `top_k` only the likeliest token is kept",
    ),
    Mistake(
        "keeps_the_least_likely",
        STEPS.but(best_k=if_wanted(lambda scaled, smallest: scaled.masked_fill(scaled >= smallest, -torch.inf))),
        STEPS.but(best_k=if_wanted(lambda scaled, smallest: scaled.masked_fill(scaled > smallest, -torch.inf))).attempt,
        summary="top-k hides the likeliest tokens",
    ),
    Mistake(
        "top_k_of_the_first_row",
        STEPS.but(smallest=lambda smallest, top_k: smallest if top_k is None else smallest[:1]),
        STEPS.but(
            smallest=lambda scaled, n_kept, smallest, top_k: (
                smallest if top_k is None else scaled.flatten().topk(n_kept).values[-1:, None]
            )
        ).attempt,
        STEPS.but(smallest=lambda smallest, top_k: smallest if top_k is None else smallest.amin()).attempt,
        summary="one threshold is used for all rows in top-k",
        message="All rows are compared with one number, in top-k. Each row has k largest logits of its own.",
        hints=["How many tokens are kept in the second row?"],
    ),
    Mistake(
        "top_k_fills_with_zero",
        STEPS.but(best_k=if_wanted(lambda scaled, smallest: scaled.masked_fill(scaled < smallest, 0.0))),
        summary="the logits that top-k hides become 0, not −∞",
    ),
    Mistake(
        "the_rank_within_the_k",
        STEPS.but(best_k=lambda scaled, n_kept, top_k: scaled if top_k is None else scaled.topk(n_kept).values),
        summary="with a `top_k` the *ranks* of the tokens come out, not their ids",
    ),
]

TOP_P = [
    Mistake(
        "no_top_p",
        STEPS.but(superfluous=lambda superfluous: torch.zeros_like(superfluous)),
        summary="`top_p` is not used",
    ),
    Mistake(
        "no_top_p_beside_top_k",
        STEPS.but(superfluous=lambda superfluous, top_k: superfluous & (top_k is None)),
        summary="`top_p` is not used where there is a `top_k`",
    ),
    Mistake(
        "drops_the_token_that_reaches_p",
        STEPS.but(superfluous=where_the_mass(lambda mass, before, top_p: mass > top_p)),
        STEPS.but(superfluous=where_the_mass(lambda mass, before, top_p: mass >= top_p)).attempt,
        STEPS.but(superfluous=where_the_mass(lambda mass, before, top_p: but_the_first(mass > top_p))),
        STEPS.but(superfluous=where_the_mass(lambda mass, before, top_p: but_the_first(mass >= top_p))).attempt,
        summary="top-p drops the very token with which the mass reaches p",
    ),
    Mistake(
        "keeps_one_more_than_needed",
        STEPS.but(
            superfluous=where_the_mass(lambda mass, before, top_p: functional.pad(before >= top_p, (1, 0))[:, :-1])
        ),
        summary="top-p keeps one token more than are needed",
    ),
    Mistake(
        "sorts_the_least_likely_first",
        STEPS.but(order=lambda candidates: candidates.argsort(dim=-1)),
        summary="the tokens are sorted with the *least* likely first",
    ),
    Mistake(
        "not_sorted",
        STEPS.but(order=lambda candidates: torch.arange(candidates.shape[-1]).expand(candidates.shape)),
        summary="the mass is added up in the order of the vocabulary, not of the probabilities",
    ),
    Mistake(
        "order_not_undone",
        STEPS.but(dropped=lambda superfluous: superfluous),
        summary="the mask of top-p stays in sorted order, and is used in the order of the vocabulary",
    ),
    Mistake(
        "order_undone_the_wrong_way",
        STEPS.but(dropped=lambda superfluous, order: superfluous.gather(-1, order)),
        summary="the mask is sorted once more, by the same order, instead of being brought back",
    ),
    Mistake(
        "ranks_instead_of_ids",
        STEPS.but(
            nucleus=lambda best_k, superfluous, order, top_p: (
                best_k if top_p is None else best_k.gather(-1, order).masked_fill(superfluous, -torch.inf)
            )
        ),
        summary="with a `top_p` the *ranks* of the tokens come out, not their ids",
    ),
    Mistake(
        "keeps_what_is_superfluous",
        STEPS.but(superfluous=where_the_mass(lambda mass, before, top_p: before < top_p)),
        STEPS.but(superfluous=where_the_mass(lambda mass, before, top_p: mass <= top_p)).attempt,
        summary="the mask of top-p is inverted",
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
        summary="each probability is compared with p, not the sum of those before it",
        message="Each probability is compared with a number by itself. It is their *sum* that should reach `top_p`.",
        hints=["Ten equally likely tokens and top_p=0.5: how many should be kept?"],
    ),
    Mistake(
        "the_rest_of_p",
        STEPS.but(superfluous=where_the_mass(lambda mass, before, top_p: before >= 1 - top_p)),
        summary="the mass is compared with 1 − p",
    ),
    Mistake(
        "adds_up_logits",
        STEPS.but(candidates=lambda best_k: best_k),
        STEPS.but(candidates=lambda best_k: best_k.exp()).attempt,
        summary="top-p adds up numbers that are not probabilities",
    ),
    Mistake(
        "adds_up_over_the_batch",
        STEPS.but(
            mass_before=lambda candidates, order: (
                candidates.gather(-1, order).cumsum(dim=0) - candidates.gather(-1, order)
            )
        ),
        summary="top-p adds up over the batch, not over the vocabulary",
        message="The mass is added up over the *batch*. It should be over the tokens of each row.",
        hints=["What is the last of the sums in each row? It should be 1."],
    ),
    Mistake(
        "top_p_of_all_tokens",
        STEPS.but(candidates=lambda scaled, best_k: scaled.softmax(dim=-1).masked_fill(best_k == -torch.inf, 0.0)),
        summary="top-p counts the mass of all tokens, not only of those that top-k leaves",
        message="{summary}. Look at what it counts, and which of the two comes first.",
    ),
    Mistake(
        "top_p_fills_with_zero",
        STEPS.but(nucleus=lambda best_k, dropped: best_k.masked_fill(dropped, 0.0)),
        summary="the logits that top-p drops become 0, not −∞",
    ),
]

DRAW = [
    Mistake(
        "greedy",
        STEPS.but(drawn=lambda probabilities: probabilities.argmax(dim=-1, keepdim=True)),
        summary="the likeliest token is taken every time; nothing is drawn",
        message="The same token is taken every time. Nothing is drawn, so the generator has no part in it.",
        hints=["How often should a token of probability 0.3 come out?"],
    ),
    Mistake(
        "ignores_the_generator",
        STEPS.but(drawn=lambda probabilities: torch.multinomial(probabilities, 1)),
        summary="the draw does not use the generator",
    ),
    Mistake(
        "a_generator_of_its_own",
        STEPS.but(
            drawn=lambda probabilities: torch.multinomial(probabilities, 1, generator=torch.Generator().manual_seed(0))
        ),
        STEPS.but(
            drawn=lambda probabilities: torch.multinomial(probabilities, 1, generator=torch.Generator().manual_seed(42))
        ).attempt,
        summary="the draw uses a generator with a seed of its own",
    ),
    Mistake(
        "every_axis_of_length_1_removed",
        STEPS.but(tokens=lambda drawn: drawn.squeeze()),
        summary="every axis of length 1 is removed, also that of a batch of one",
        message="Every axis of length 1 is removed, also the batch where it has one row. One axis should stay.",
        hints=["What shape comes out for a single row?"],
    ),
    Mistake(
        "a_list",
        STEPS.but(tokens=lambda drawn: drawn.squeeze(-1).tolist()),
        STEPS.but(tokens=lambda drawn: drawn.squeeze(-1).float()).attempt,
        STEPS.but(tokens=lambda drawn: drawn.squeeze(-1).int()).attempt,
        summary="the tokens are not a tensor of int64",
        message=(
            "The tokens come as a list, or in another dtype. Ids are a tensor of int64, as an embedding takes them."
        ),
        hints=["What do `type` and `.dtype` say of the result?"],
    ),
]

MISTAKES = [*TEMPERATURE, *TOP_K, *TOP_P, *DRAW]
