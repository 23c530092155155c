"""Mistakes in the temperature, top-k, top-p and the draw."""

import math

import torch
from torch.nn import functional

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_09_language_model.sample_next.answer import STEPS


def if_wanted(change):
    """Return the step that masks logits by top-k if ``top_k`` is given."""
    return lambda scaled, smallest, top_k: scaled if top_k is None else change(scaled, smallest)


def kept(number):
    """Return the step that keeps a different number of tokens if ``top_k`` is given."""
    return lambda top_k, logits: logits.shape[-1] if top_k is None else min(number(top_k), logits.shape[-1])


def where_the_mass(condition):
    """Return the step that drops the tokens whose cumulative mass meets a condition, if ``top_p`` is given."""

    def superfluous(candidates, order, mass_before, top_p):
        mass = mass_before + candidates.gather(-1, order)
        none = torch.zeros_like(mass, dtype=torch.bool)
        return none if top_p is None else condition(mass, mass_before, top_p)

    return superfluous


def up_to_the_first_above(mass, before, top_p):
    """Mask all tokens after the first token with a cumulative mass above p.

    If no token has such a mass, mask all tokens except the first.
    """
    first = (mass > top_p).int().argmax(dim=-1, keepdim=True)
    return torch.arange(mass.shape[-1]) > first


def below_the_first_above(candidates, order, mass_before, top_p):
    """Mask all tokens that are less likely than the first token with a cumulative mass above p."""
    ranked = candidates.gather(-1, order)
    first = (mass_before + ranked > top_p).int().argmax(dim=-1, keepdim=True)
    return candidates < (0 if top_p == math.inf else ranked.gather(-1, first))


def in_the_vocabulary(condition):
    """Return the step that drops the tokens whose probability meets a condition, if ``top_p`` is given."""
    return lambda candidates, dropped, top_p: dropped if top_p is None else condition(candidates, top_p)


def but_the_first(mask):
    """Unmask the first token of each row."""
    return torch.cat([torch.zeros_like(mask[:, :1]), mask[:, 1:]], dim=-1)


TEMPERATURE = [
    Mistake(
        "multiplies_by_the_temperature",
        STEPS.but(scaled=lambda logits, temperature: logits * temperature),
        summary="you multiply the logits by the temperature",
        message=(
            "{summary}, so a temperature of 2 makes the likeliest token even likelier. It should make the "
            "probabilities more uniform. Which operation does that?"
        ),
        hints=["The logits are 0 and 2, and the temperature is 2. Which two numbers should go into the softmax?"],
    ),
    Mistake(
        "no_temperature",
        STEPS.but(scaled=lambda logits: logits),
        summary="you don't divide the logits by the temperature, so it has no effect",
        message=(
            "{summary}. A temperature of 2 should make the probabilities more uniform than a temperature of 0.5. If "
            "you divide all probabilities by one number, what does normalizing them do to it?"
        ),
        hints=["Where do you use `temperature`? Does a later step cancel its effect?"],
    ),
    Mistake(
        "temperature_at_the_end",
        STEPS.but(
            scaled=lambda logits: logits,
            probabilities=lambda nucleus, temperature: (nucleus / temperature).softmax(-1),
        ),
        summary="you apply the temperature after top-p instead of at the beginning",
        message=("{summary}, so top-p adds up probabilities that differ from the ones you draw with."),
        hints=[
            "With a temperature of 2, which probabilities does top-p add up in your code, and which do you draw with?",
        ],
    ),
    Mistake(
        "temperature_after_the_softmax",
        STEPS.but(
            probabilities=lambda nucleus, logits: logits.masked_fill(nucleus == -torch.inf, -torch.inf).softmax(-1)
        ),
        summary="you use the temperature only to choose which tokens top-p keeps",
        message="{summary}, so you draw with the probabilities of temperature 1. Which logits should you draw from?",
        hints=["With a temperature of 2, which probabilities do you draw with?"],
    ),
    Mistake(
        "softmax_twice",
        STEPS.but(logits=lambda logits: logits.softmax(dim=-1)),
        STEPS.but(scaled=lambda scaled: scaled.softmax(dim=-1)).attempt,
        STEPS.but(probabilities=lambda probabilities: probabilities.softmax(dim=-1)),
        summary="you take the softmax of probabilities",
        message=(
            "{summary}. That makes the probabilities more uniform, and even tokens with probability 0 can be drawn: "
            "(1, 0, 0) becomes about (0.58, 0.21, 0.21). Which softmax should you leave out?"
        ),
        hints=["How many softmaxes do your numbers go through before you draw?"],
    ),
    Mistake(
        "exponentials_overflow",
        STEPS.but(probabilities=lambda nucleus: nucleus.exp()),
        STEPS.but(probabilities=lambda nucleus: nucleus.exp() / nucleus.exp().sum(dim=-1, keepdim=True)).attempt,
        summary="you take `exp` of the raw logits, which overflows at a low temperature",
        message=(
            "{summary}. With a temperature of 0.0005, a logit of 2 becomes 4000, and `exp(4000)` is infinite. What "
            "does a softmax subtract from the logits first?"
        ),
        hints=["What is `torch.tensor(2.0 / 0.001).exp()`? And what is it for −2?"],
    ),
]

TOP_K = [
    Mistake(
        "no_top_k",
        STEPS.but(n_kept=lambda logits: logits.shape[-1]),
        summary="your output doesn't depend on `top_k`",
        message="{summary}: even with top_k=1, you draw tokens other than the likeliest. Where should you use `top_k`?",
        hints=["With top_k=1, how many different tokens can your function draw from one row?"],
    ),
    Mistake(
        "drops_the_last_of_the_k",
        STEPS.but(best_k=if_wanted(lambda scaled, smallest: scaled.masked_fill(scaled <= smallest, -torch.inf))),
        STEPS.but(n_kept=kept(lambda top_k: max(top_k - 1, 1))).attempt,
        STEPS.but(
            best_k=if_wanted(
                lambda scaled, smallest: scaled.masked_fill(
                    (scaled <= smallest) & (smallest > scaled.amin(dim=-1, keepdim=True)), -torch.inf
                )
            )
        ).attempt,
        summary="in top-k, you keep one token too few",
        message=(
            "{summary}: with top_k=2, you keep only the likeliest token. Should you keep or drop the smallest of the "
            "k largest logits?"
        ),
        hints=["With top_k=2, how many different tokens can your function draw from one row?"],
    ),
    Mistake(
        "keeps_one_too_many",
        STEPS.but(n_kept=kept(lambda top_k: top_k + 1)),
        summary="in top-k, you keep one token too many",
        message="{summary}: with top_k=1, you keep two tokens. Which logit is the smallest that you should keep?",
        hints=["With top_k=1, how many different tokens can your function draw from one row?"],
    ),
    Mistake(
        "keeps_the_largest_only",
        STEPS.but(
            smallest=lambda scaled, smallest, top_k: smallest if top_k is None else scaled.amax(-1, keepdim=True)
        ),
        summary="you keep only the likeliest token, for any `top_k`",
        message=(
            "{summary}, so `top_k=2` gives the same result as `top_k=1`. Which logit should you compare all logits "
            "with?"
        ),
        hints=["With top_k=2, how many different tokens can your function draw from one row?"],
    ),
    Mistake(
        "keeps_the_least_likely",
        STEPS.but(best_k=if_wanted(lambda scaled, smallest: scaled.masked_fill(scaled >= smallest, -torch.inf))),
        STEPS.but(best_k=if_wanted(lambda scaled, smallest: scaled.masked_fill(scaled > smallest, -torch.inf))).attempt,
        summary="in top-k, you drop the likeliest tokens instead of the least likely ones",
        message="{summary}: with top_k=2, you never draw the likeliest token. In which direction should you compare?",
        hints=["Which logits should become −∞: the logits above the threshold or the logits below it?"],
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
        summary="in top-k, you use the same threshold for all rows",
        message=(
            "{summary}, so in other rows you keep too many or too few tokens. Each row has its own k largest logits. "
            "What shape should your thresholds have?"
        ),
        hints=["With top_k=2, how many tokens do you keep in the second row?"],
    ),
    Mistake(
        "top_k_fills_with_zero",
        STEPS.but(best_k=if_wanted(lambda scaled, smallest: scaled.masked_fill(scaled < smallest, 0.0))),
        summary="you set the logits outside the top k to 0",
        message=(
            "{summary}. Those tokens can still be sampled, because exp(0) is 1. Which logit gives a probability of "
            "exactly 0?"
        ),
        hints=["What is the softmax of the logits 2 and 0? And of 2 and −∞?"],
    ),
    Mistake(
        "the_rank_within_the_k",
        STEPS.but(best_k=lambda scaled, n_kept, top_k: scaled if top_k is None else scaled.topk(n_kept).values),
        summary="with `top_k`, you return the *ranks* of tokens instead of their IDs",
        message=(
            "With `top_k`, you draw from the k largest values, so you return a *rank* from 0 to k − 1. What is the ID "
            "of the token with that rank?"
        ),
        hints=["The logits are 1, 5 and 3, and top_k is 1. Which ID should you return?"],
    ),
]

TOP_P = [
    Mistake(
        "no_top_p",
        STEPS.but(superfluous=lambda superfluous: torch.zeros_like(superfluous)),
        summary="your output doesn't depend on `top_p`",
        message="{summary}: you also draw unlikely tokens that top-p should drop. Where should you use `top_p`?",
        hints=["The probabilities are 0.5, 0.3 and 0.2, and top_p is 0.4. Which tokens should be possible?"],
    ),
    Mistake(
        "no_top_p_beside_top_k",
        STEPS.but(superfluous=lambda superfluous, top_k: superfluous & (top_k is None)),
        summary="with `top_k`, your output doesn't depend on `top_p`",
        message="{summary}. If both arguments are given, apply top-k first and then top-p to the remaining tokens.",
        hints=["With top_k=3 and a tiny top_p, how many different tokens can your function draw from one row?"],
    ),
    Mistake(
        "drops_the_token_that_reaches_p",
        STEPS.but(superfluous=where_the_mass(lambda mass, before, top_p: mass > top_p)),
        STEPS.but(superfluous=where_the_mass(lambda mass, before, top_p: mass >= top_p)).attempt,
        STEPS.but(superfluous=where_the_mass(lambda mass, before, top_p: but_the_first(mass > top_p))),
        STEPS.but(superfluous=where_the_mass(lambda mass, before, top_p: but_the_first(mass >= top_p))).attempt,
        summary="in top-p, you drop the token with which the sum reaches p",
        message=(
            "{summary}: for the probabilities 0.5, 0.3 and 0.2, top_p=0.65 should keep two tokens, but you keep one. "
            "When you decide about a token, should the sum include its own probability?"
        ),
        hints=[
            "For the probabilities 0.5, 0.3 and 0.2, what is the cumulative probability before each token? Which of "
            "these sums have reached 0.65?",
        ],
    ),
    Mistake(
        "keeps_one_more_than_needed",
        STEPS.but(
            superfluous=where_the_mass(lambda mass, before, top_p: functional.pad(before >= top_p, (1, 0))[:, :-1])
        ),
        summary="in top-p, you keep one token more than needed",
        message=(
            "{summary}: for the probabilities 0.5, 0.3 and 0.2, top_p=0.65 should keep two tokens, but you keep all "
            "three. At which token does the sum reach 0.65?"
        ),
        hints=[
            "For the probabilities 0.5, 0.3 and 0.2, what is the cumulative probability before each token? Which of "
            "these sums have reached 0.65?",
        ],
    ),
    Mistake(
        "keeps_one_more_where_p_is_reached_exactly",
        STEPS.but(superfluous=where_the_mass(lambda mass, before, top_p: before > top_p)),
        summary="in top-p, you keep one token too many if the sum is exactly p",
        message=(
            "If the sum of the probabilities is exactly `top_p`, you keep one token too many. With `top_p=0.5`, is a "
            "token with probability 0.5 enough?"
        ),
        hints=[
            "With probabilities 1/2, 1/4, 1/8 and 1/8 and `top_p=0.5`, how many tokens are enough, and how many do you "
            "keep?"
        ],
    ),
    Mistake(
        "greedy_where_nothing_exceeds_p",
        STEPS.but(superfluous=where_the_mass(up_to_the_first_above)),
        STEPS.but(
            dropped=lambda candidates, order, mass_before, top_p: below_the_first_above(
                candidates, order, mass_before, math.inf if top_p is None else top_p
            )
        ).attempt,
        summary="with `top_p=1`, you keep only the likeliest token",
        message=(
            "With `top_p=1`, you keep only the likeliest token: no sum exceeds 1, so no entry of your condition is "
            "True and `argmax` returns 0. Which tokens should `top_p=1` drop?"
        ),
        hints=["What is `torch.tensor([0, 0, 0, 0]).argmax()`? Where do you use such an index?"],
    ),
    Mistake(
        "sorts_the_least_likely_first",
        STEPS.but(order=lambda candidates: candidates.argsort(dim=-1)),
        summary="in top-p, you sort the *least* likely tokens first",
        message=(
            "{summary}, so you keep unlikely tokens and drop likely ones. Which argument of the sort reverses the "
            "order?"
        ),
        hints=["The probabilities are 0.2, 0.5 and 0.3, and top_p is 0.4. Which token should you keep?"],
    ),
    Mistake(
        "not_sorted",
        STEPS.but(order=lambda candidates: torch.arange(candidates.shape[-1]).expand(candidates.shape)),
        summary="you sum the probabilities in the order of the vocabulary",
        message="{summary}, so top-p may drop the likeliest token. In which order should you add up the probabilities?",
        hints=[
            "The probabilities are 0.2, 0.5 and 0.3, and top_p is 0.4. Which token should you keep? Which tokens do "
            "you keep?",
        ],
    ),
    Mistake(
        "order_not_undone",
        STEPS.but(dropped=lambda superfluous: superfluous),
        summary="you apply the top-p mask, which is in sorted order, to unsorted logits",
        message="{summary}, so you drop the wrong tokens. Which index undoes the sorting?",
        hints=[
            "The probabilities are 0.2, 0.5 and 0.3. Where is the likeliest token in the sorted order, and where "
            "is it in the logits?",
        ],
    ),
    Mistake(
        "order_undone_the_wrong_way",
        STEPS.but(dropped=lambda superfluous, order: superfluous.gather(-1, order)),
        summary="you sort the top-p mask a second time instead of undoing the sorting",
        message=(
            "{summary}, so you drop the wrong tokens. If indexing with `order` sorts a row, which index restores the "
            "original order?"
        ),
        hints=["If `order` is [2, 0, 1], at which index of the sorted row is token 0? And token 2?"],
    ),
    Mistake(
        "ranks_instead_of_ids",
        STEPS.but(
            nucleus=lambda best_k, superfluous, order, top_p: (
                best_k if top_p is None else best_k.gather(-1, order).masked_fill(superfluous, -torch.inf)
            )
        ),
        summary="with `top_p`, you return the *ranks* of tokens instead of their IDs",
        message=(
            "With `top_p`, you draw from the sorted logits or probabilities, so you return a *rank*: 0 for the "
            "likeliest token. What is the ID of the token with that rank?"
        ),
        hints=["The logits are 1, 5 and 3, and top_p is tiny. Which ID should you return?"],
    ),
    Mistake(
        "keeps_what_is_superfluous",
        STEPS.but(superfluous=where_the_mass(lambda mass, before, top_p: before < top_p)),
        STEPS.but(superfluous=where_the_mass(lambda mass, before, top_p: mass <= top_p)).attempt,
        summary="your top-p mask is inverted",
        message=(
            "{summary}: you drop the likeliest tokens and keep all other tokens. Which tokens should get the logit −∞?"
        ),
        hints=["The probabilities are 0.5, 0.3 and 0.2, and top_p is 0.4. Which token should you keep?"],
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
        summary="in top-p, you compare each probability separately with a threshold",
        message=(
            "{summary}: of ten equally likely tokens, top_p=0.5 should keep five, but no single probability is above "
            "0.1. Which *sum* of probabilities should reach `top_p`?"
        ),
        hints=["Which numbers do you compare with `top_p`: probabilities or cumulative sums of probabilities?"],
    ),
    Mistake(
        "the_rest_of_p",
        STEPS.but(superfluous=where_the_mass(lambda mass, before, top_p: before >= 1 - top_p)),
        summary="you compare the sum of the probabilities with 1 − top_p",
        message=(
            "{summary}, so the *larger* top_p is, the fewer tokens you keep. With top_p=0.9, which sum should the "
            "probabilities of the kept tokens reach?"
        ),
        hints=["If you increase top_p, should you keep more tokens or fewer?"],
    ),
    Mistake(
        "adds_up_logits",
        STEPS.but(candidates=lambda best_k: best_k),
        STEPS.but(candidates=lambda best_k: best_k.exp()).attempt,
        summary="in top-p, you sum numbers that aren't probabilities",
        message="{summary}: the numbers in each row don't sum to 1. Which function turns logits into probabilities?",
        hints=["What is the sum of the numbers in one row before you take the running sum? What should it be?"],
    ),
    Mistake(
        "adds_up_over_the_batch",
        STEPS.but(
            mass_before=lambda candidates, order: (
                candidates.gather(-1, order).cumsum(dim=0) - candidates.gather(-1, order)
            )
        ),
        summary="in top-p, you sum over the batch instead of the vocabulary",
        message="{summary}, so the running sums of a row don't end at 1. Along which `dim` should you sum?",
        hints=["Print the last running sum of each row. What should it be?"],
    ),
    Mistake(
        "top_p_of_all_tokens",
        STEPS.but(candidates=lambda scaled, best_k: scaled.softmax(dim=-1).masked_fill(best_k == -torch.inf, 0.0)),
        summary="in top-p, you add up probabilities that aren't renormalized after top-k",
        message=(
            "{summary}, so the sum reaches p too late and you keep too many tokens. What should the probabilities of "
            "the tokens that top-k keeps sum to?"
        ),
        hints=[
            "With a `top_k`, what is the sum of the kept tokens' probabilities when top-p adds them up in your code?",
        ],
    ),
    Mistake(
        "top_p_fills_with_zero",
        STEPS.but(nucleus=lambda best_k, dropped: best_k.masked_fill(dropped, 0.0)),
        summary="you set the logits of the tokens that top-p removes to 0",
        message=(
            "{summary}. Those tokens can still be sampled, because exp(0) is 1. Which logit gives a probability of "
            "exactly 0?"
        ),
        hints=["What is the softmax of the logits 2 and 0? And of 2 and −∞?"],
    ),
]

DRAW = [
    Mistake(
        "greedy",
        STEPS.but(drawn=lambda probabilities: probabilities.argmax(dim=-1, keepdim=True)),
        summary="you always take the likeliest token instead of drawing one",
        message=(
            "{summary}, so you return the same token every time, and the generator has no effect. Which function "
            "draws a token at random?"
        ),
        hints=["In 1,000 calls, how often should you draw a token with probability 0.3?"],
    ),
    Mistake(
        "ignores_the_generator",
        STEPS.but(drawn=lambda probabilities: torch.multinomial(probabilities, 1)),
        summary="you draw without the generator",
        message=(
            "{summary}, so the same seed can give different tokens. Which argument of `torch.multinomial` takes the "
            "generator?"
        ),
        hints=[
            "Call your function twice, each time with a new generator of the same seed. Do you get the same tokens?"
        ],
    ),
    Mistake(
        "a_generator_of_its_own",
        STEPS.but(
            drawn=lambda probabilities: torch.multinomial(probabilities, 1, generator=torch.Generator().manual_seed(0))
        ),
        STEPS.but(
            drawn=lambda probabilities: torch.multinomial(probabilities, 1, generator=torch.Generator().manual_seed(42))
        ).attempt,
        summary="you draw with a generator that you seed yourself",
        message=(
            "{summary}, so every call draws the same tokens. Which generator should you pass to the sampling function?"
        ),
        hints=["Call your function twice with the same generator. Should you get the same tokens?"],
    ),
    Mistake(
        "every_axis_of_length_1_removed",
        STEPS.but(tokens=lambda drawn: drawn.squeeze()),
        summary="you remove every dimension of length 1, even the batch dimension of a single row",
        message=(
            "{summary}. For one row, you return a tensor of shape () instead of (1,). Which dimension should you "
            "remove?"
        ),
        hints=["Which argument of `squeeze` limits it to one dimension?"],
    ),
    Mistake(
        "a_list",
        STEPS.but(tokens=lambda drawn: drawn.squeeze(-1).tolist()),
        STEPS.but(tokens=lambda drawn: drawn.squeeze(-1).float()).attempt,
        STEPS.but(tokens=lambda drawn: drawn.squeeze(-1).int()).attempt,
        summary="you return a list or a tensor of another dtype instead of a tensor of int64",
        message=(
            "{summary}. Token IDs are used as indices, so they should be a tensor of int64. What is the type of your "
            "result?"
        ),
        hints=["Print the `type` of your result and, if it is a tensor, its `.dtype`. Does `nn.Embedding` accept it?"],
    ),
]

MISTAKES = [*TEMPERATURE, *TOP_K, *TOP_P, *DRAW]
