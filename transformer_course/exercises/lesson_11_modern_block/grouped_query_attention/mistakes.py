"""What goes wrong with heads that share keys and values, with the mask, and where nothing may be seen."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_11_modern_block.grouped_query_attention.answer import STEPS
from transformer_course.exercises.shared import attention_mistakes
from transformer_course.steps import asking


def in_turn(n_repeats):
    """Repeat all heads as a whole."""
    return lambda heads: heads.repeat(1, n_repeats, 1, 1)


def one_in_turn(name):
    """Return the answer in which the heads of keys alone, or of values, are repeated as a whole."""

    def change(self, split, n_repeats, features):
        return in_turn(n_repeats)(split(features, self.n_kv_heads))

    return STEPS.but(**{name: asking(change, "self", "split", "n_repeats", f"from_{name}")}).attempt


def features_repeated(name):
    """Return how each feature of the keys or values is repeated, and then they are split."""

    def change(self, split, n_repeats, features):
        return split(features.repeat_interleave(n_repeats, dim=-1), self.n_heads)

    return asking(change, "self", "split", "n_repeats", f"from_{name}")


def viewed(features, n_heads):
    """Cut features into heads without a transposition."""
    return features.reshape(len(features), n_heads, features.shape[1], -1)


def untreated(**changes):
    """Return the answer that does nothing for a query that may see nothing, with other changes."""
    return STEPS.but(
        empty=lambda visible: None if visible is None else torch.zeros_like(visible[..., :1]),
        **changes,
    )


def causal(x):
    """Return the causal mask of a sequence."""
    return torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).tril()


OF_THE_HEADS = [
    Mistake(
        "heads_repeated_in_turn",
        STEPS.but(repeated=in_turn),
        one_in_turn("keys"),
        one_in_turn("values"),
        summary="heads of keys or values are repeated as a whole, 0 1 0 1, not each next to itself, 0 0 1 1",
        message=(
            "The heads of queries meet the heads of keys and values, or of one of them, in turn: 0 1 0 1. Neighboring "
            "heads of queries should share one, 0 0 1 1. A model that was trained with one order cannot be used with "
            "the other. Look at where heads are repeated or cut."
        ),
        hints=[
            "With 4 heads of queries and 2 of keys, which heads of keys do the 4 meet? They should meet 0, 0, 1 and 1."
        ],
    ),
    Mistake(
        "heads_not_repeated",
        STEPS.but(repeated=lambda: lambda heads: heads),
        summary="the heads of keys and values are not repeated",
        message=(
            "There are fewer heads of keys or values than of queries, and nothing brings them to as many: it crashes "
            "unless there is one of them or as many. A step is missing."
        ),
        hints=["Which shapes have q, k and v after the split in the case that crashes?"],
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
        summary="keys and values are split into `n_heads` heads",
        message=(
            "Keys and values are split into `n_heads` heads, and are too narrow for the queries then, or cannot be cut "
            "like this. There are fewer heads of them. Look at the numbers in the split."
        ),
        hints=["How many features have the keys, and how wide is a head?"],
    ),
    Mistake(
        "features_repeated",
        STEPS.but(keys=features_repeated("keys"), values=features_repeated("values")),
        summary="each feature of keys and values is repeated before the split, not each head after it",
        message=(
            "Each *feature* is repeated, before the split: then the heads hold copies of a few features each. What "
            "belongs together is a head. Look at the order of the two, split and repeat."
        ),
        hints=["Of keys with the features 0 1 2 3 in 2 heads, which should 4 heads of queries meet? 01, 01, 23, 23."],
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
        summary="nothing is done for a query that may see nothing",
    ),
    Mistake(
        "nan_replaced_too_late",
        untreated(output=lambda output: output.nan_to_num()),
        summary="nan is replaced after the weights have met the values",
        message=(
            "The output is right, and the gradient is nan: inside, the empty rows still were nan, and on the way back "
            "nothing takes that away. Look at what is replaced: the weights, or only the output."
        ),
        hints=["Which gradients does x get? In training, one nan ruins the whole model."],
    ),
    Mistake(
        "always_causal",
        STEPS.but(mask=lambda mask, x: causal(x) if mask is None else mask & causal(x)),
        STEPS.but(mask=lambda mask, x: causal(x) if mask is None else mask).attempt,
        STEPS.but(mask=lambda x: causal(x)).attempt,
        summary="a causal mask is made, whatever mask was given",
        message=(
            "A causal mask is made inside: no position sees those after it, though nobody asked for that. What may be "
            "seen is said by `mask`. Look for a triangle, or `is_causal`."
        ),
        hints=["Without a mask, which positions should the first one see?"],
    ),
    Mistake(
        "mask_taken_for_granted",
        STEPS.but(empty=lambda visible: ~visible.any(dim=-1, keepdim=True)),
        STEPS.but(hidden=lambda visible: ~visible, weights=lambda probabilities: probabilities).attempt,
        untreated(scores=lambda scaled, visible, fill: scaled.masked_fill(visible == 0, fill)).attempt,
        summary="`mask` is used as a tensor, also where it is None",
        message=(
            "It crashes as soon as there is no mask: `mask` is then None, and None is no tensor. Look at what happens "
            "in that case."
        ),
        hints=["What is `mask` if nobody gives one?"],
    ),
    *attention_mistakes.of_the_heads(STEPS, "x", "n"),
    *attention_mistakes.of_a_mask_that_may_be_none(STEPS),
    attention_mistakes.no_scaling(STEPS),
    *attention_mistakes.of_the_mask(STEPS),
    attention_mistakes.softmax_over_the_queries(STEPS),
    attention_mistakes.overflows(STEPS),
]

MISTAKES = [*OF_THE_HEADS, *OF_THE_MASK]
