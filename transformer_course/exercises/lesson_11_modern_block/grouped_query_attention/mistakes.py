"""Mistakes in sharing keys and values among heads, in the mask, and in fully masked queries."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_11_modern_block.grouped_query_attention.answer import STEPS
from transformer_course.exercises.shared import attention_mistakes
from transformer_course.steps import with_inputs


def in_turn(n_repeats):
    """Return the function that repeats the whole sequence of heads."""
    return lambda heads: heads.repeat(1, n_repeats, 1, 1)


def by_the_wrong_number(n_repeats):
    """Return the function that divides a query head's index by the number of key heads."""

    def change(heads):
        n_kv_heads = heads.shape[1]
        return torch.stack([heads[:, head // n_kv_heads] for head in range(n_repeats * n_kv_heads)], dim=1)

    return change


def one_in_turn(name):
    """Return the answer that repeats the whole sequence of heads for only the keys or only the values."""

    def change(self, split, n_repeats, features):
        return in_turn(n_repeats)(split(features, self.n_kv_heads))

    return STEPS.but(**{name: with_inputs(change, "self", "split", "n_repeats", f"from_{name}")}).attempt


def features_repeated(name):
    """Return the step that repeats each feature of the keys or values before splitting into heads."""

    def change(self, split, n_repeats, features):
        return split(features.repeat_interleave(n_repeats, dim=-1), self.n_heads)

    return with_inputs(change, "self", "split", "n_repeats", f"from_{name}")


def viewed(features, n_heads):
    """Split features into heads without transposing."""
    return features.reshape(len(features), n_heads, features.shape[1], -1)


def untreated(**changes):
    """Return the answer that does not handle fully masked queries, with the given changes to other steps."""
    return STEPS.but(
        empty=lambda visible: None if visible is None else torch.zeros_like(visible[..., :1]),
        **changes,
    )


def causal(x):
    """Return the causal mask for a sequence."""
    return torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).tril()


OF_THE_HEADS = [
    Mistake(
        "heads_repeated_in_turn",
        STEPS.but(repeated=in_turn),
        summary="you repeat the key and value heads in the order 0 1 0 1 instead of 0 0 1 1",
        message=(
            "Your query heads use the key and value heads in the order 0 1 0 1. Neighboring query heads should share a "
            "key-value head: 0 0 1 1. Weights trained with one order don't work with the other."
        ),
        hints=["With 4 query heads and 2 key heads, which key head does each of your 4 query heads use?"],
    ),
    Mistake(
        "keys_and_values_repeated_differently",
        one_in_turn("keys"),
        one_in_turn("values"),
        summary="you repeat keys and values in different orders",
        message=(
            "You repeat keys and values in different orders: one as 0 0 1 1, the other as 0 1 0 1. Query head 1 is "
            "then compared with the keys of one head but averages the values of the other. Which order should both "
            "have?"
        ),
        hints=[
            "With 4 query heads and 2 key heads, which keys and which values does query head 1 use?",
            "Neighboring query heads share a head of keys and the same head of values.",
            "Use `repeat_interleave(n, dim=1)` for both. `repeat(1, n, 1, 1)` repeats the whole sequence of heads.",
        ],
    ),
    Mistake(
        "group_from_the_number_of_key_heads",
        STEPS.but(repeated=lambda n_repeats: by_the_wrong_number(n_repeats)),
        summary="you divide the number of a query head by the number of key heads",
        message=(
            "{summary}. With 6 query heads and 2 key heads, query head 5 then gets key head 2, which doesn't exist. "
            "How "
            "many query heads share a key head?"
        ),
        hints=["With 6 query heads and 2 key heads, which key head should each of the query heads 0 to 5 use?"],
    ),
    Mistake(
        "heads_not_repeated",
        STEPS.but(repeated=lambda: lambda heads: heads),
        summary="you don't repeat the heads of keys and values",
        message=(
            "You never repeat the key or value heads, so there are fewer key-value heads than query heads. Your code "
            "crashes unless n_kv_heads is 1 or equals n_heads. How many query heads should share each key head?"
        ),
        hints=["In the case that crashes, which shapes do q, k and v have after the split?"],
    ),
    Mistake(
        "keys_in_too_many_heads",
        STEPS.but(
            keys=lambda self, split, from_keys: split(from_keys, self.n_heads),
            values=lambda self, split, from_values: split(from_values, self.n_heads),
        ),
        STEPS.but(
            keys=lambda self, split, repeated, from_keys: repeated(split(from_keys, self.n_heads)),
            values=lambda self, split, repeated, from_values: repeated(split(from_values, self.n_heads)),
        ).attempt,
        summary="you split keys and values into `n_heads` heads",
        message=(
            "{summary}, so these heads are narrower than the query heads, or the split fails. How many heads should "
            "the keys have?"
        ),
        hints=["How many features do the projected keys have, and how wide is one head?"],
    ),
    Mistake(
        "features_repeated",
        STEPS.but(keys=features_repeated("keys"), values=features_repeated("values")),
        summary="you repeat each feature of keys and values before the split",
        message=(
            "You repeat each *feature* before the split, so your heads hold copies of a few features. Which should "
            "come first, the split or the repeat?"
        ),
        hints=["Keys with the features 0 1 2 3 have 2 heads, 01 and 23. Which one should each of 4 query heads use?"],
    ),
    attention_mistakes.split_by_view(
        STEPS.but(split=lambda: viewed),
        STEPS.but(split=lambda: viewed, merged=lambda mixture, x: mixture.reshape(x.shape)),
    ),
    attention_mistakes.heads_interleaved(
        STEPS.but(split=lambda: lambda features, n_heads: features.unflatten(-1, (-1, n_heads)).permute(0, 3, 1, 2))
    ),
    *attention_mistakes.of_the_merging(STEPS, "x"),
]

OF_THE_MASK = [
    Mistake(
        "nan_where_nothing_is_seen",
        untreated(),
        summary="you don't handle queries that may attend to nothing",
        message=(
            "{summary}. All their scores are −∞, and the softmax of such a row is nan. What should the output of such "
            "a query be?"
        ),
        hints=[
            "What is the softmax of a row in which every score is −∞?",
        ],
    ),
    Mistake(
        "nan_replaced_too_late",
        untreated(output=lambda output: output.nan_to_num()),
        summary="you replace nan only after averaging the values",
        message=(
            "Your output is right, but the gradient is nan. You replace nan in the output, but the backward pass "
            "still goes through rows of nan. In which tensor does nan first appear?"
        ),
        hints=["Which gradient does x get from your module? A single nan in it ruins all weights in one step."],
    ),
    Mistake(
        "always_causal",
        STEPS.but(mask=lambda mask, x: causal(x) if mask is None else mask & causal(x)),
        STEPS.but(mask=lambda mask, x: causal(x) if mask is None else mask).attempt,
        STEPS.but(mask=lambda x: causal(x)).attempt,
        summary="you apply a causal mask that the caller did not pass",
        message=(
            "{summary}, so no position attends to later positions. Only the `mask` argument should hide keys: without "
            "it, every position may attend to every other."
        ),
        hints=["If the caller passes no mask, which positions may the first position attend to?"],
    ),
    Mistake(
        "mask_taken_for_granted",
        STEPS.but(empty=lambda visible: ~visible.any(dim=-1, keepdim=True)),
        STEPS.but(hidden=lambda visible: ~visible, weights=lambda probabilities: probabilities).attempt,
        untreated(scores=lambda scaled, visible, fill: scaled.masked_fill(visible == 0, fill)).attempt,
        summary="you use `mask` as a tensor even if it is None",
        message=(
            "{summary}, so your code crashes whenever the caller passes no mask. What should happen to the scores when "
            "there is no mask?"
        ),
        hints=["What is `mask` if the caller doesn't pass one?"],
    ),
    *attention_mistakes.of_the_heads(STEPS, "x", "n"),
    *attention_mistakes.of_a_mask_that_may_be_none(STEPS),
    attention_mistakes.no_scaling(STEPS),
    *attention_mistakes.of_the_mask(STEPS),
    attention_mistakes.softmax_over_the_queries(STEPS),
    attention_mistakes.overflows(STEPS),
]

MISTAKES = [*OF_THE_HEADS, *OF_THE_MASK]
