"""Mistakes in splitting into heads, in sharing those of keys and values, and in merging."""

from torch import Tensor

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_11_modern_block.grouped_query_attention.answer import STEPS
from transformer_course.exercises.shared import attention_mistakes
from transformer_course.exercises.shared.library_parts import parts
from transformer_course.steps import Step, Variant, asking

NEIGHBOURS = "With 4 heads of queries and 2 of keys, which heads of keys do the 4 meet? They should meet 0, 0, 1 and 1."
REPEATED = "`repeat_interleave(self.n_heads // self.n_kv_heads, dim=1)`, after the split."
LEFT_WITH = "`parts.split_heads(self.w_q(x), self.n_heads)` and `parts.split_heads(self.w_k(x), self.n_kv_heads)`."


def in_turn(n_repeats):
    """Repeat all heads as a whole."""
    return lambda heads: heads.repeat(1, n_repeats, 1, 1)


def for_keys_or_values(name: str, made_otherwise: Step) -> Variant:
    """Return the answer in which the heads of keys alone, or of values, are repeated otherwise."""

    def change(self, split, n_repeats, features):
        return made_otherwise(n_repeats)(split(features, self.n_kv_heads))

    return STEPS.but(**{name: asking(change, "self", "split", "n_repeats", f"from_{name}")})


def before_the_split(repeat: Step) -> Variant:
    """Return the answer in which features are repeated, and then split into ``n_heads`` heads."""
    return STEPS.but(
        keys=lambda self, split, n_repeats, from_keys: split(repeat(from_keys, n_repeats), self.n_heads),
        values=lambda self, split, n_repeats, from_values: split(repeat(from_values, n_repeats), self.n_heads),
    )


def as_it_is(heads):
    """Leave heads as they are."""
    return heads


SHARING = [
    Mistake(
        "heads_repeated_in_turn",
        STEPS.but(repeated=in_turn),
        for_keys_or_values("keys", in_turn).attempt,
        for_keys_or_values("values", in_turn).attempt,
        does="heads of keys or values are repeated as a whole, 0 1 0 1, not each next to itself, 0 0 1 1",
        says=(
            "The heads of queries meet the heads of keys and values, or of one of them, in turn: 0 1 0 1. Neighbouring "
            "heads of queries should share one, 0 0 1 1. A model that was trained with one order cannot be used with "
            "the other. Look at where heads are repeated or cut."
        ),
        hints=[NEIGHBOURS],
    ),
    Mistake(
        "heads_not_repeated",
        STEPS.but(repeated=lambda: as_it_is).attempt,
        for_keys_or_values("keys", lambda n_repeats: as_it_is).attempt,
        for_keys_or_values("values", lambda n_repeats: as_it_is).attempt,
        says=(
            "There are fewer heads of keys or values than of queries, and nothing brings them to as many: it crashes "
            "unless there is one of them or as many. A step is missing."
        ),
        hints=[
            "Which shapes have q, k and v after the split in the case that crashes?",
            "Each head of keys and values serves several heads of queries, so it has to be there for each of them.",
            REPEATED,
        ],
    ),
    Mistake(
        "repeated_another_number_of_times",
        STEPS.but(n_repeats=lambda self: self.n_kv_heads),
        STEPS.but(n_repeats=lambda self: self.n_heads).attempt,
        STEPS.but(n_repeats=lambda self: self.n_heads / self.n_kv_heads).attempt,
        does="the heads of keys and values are repeated another number of times than needed",
        says="{does}, so that there are not as many as heads of queries. Look at the number.",
        hints=["With 6 heads of queries and 2 of keys, how often is each head of keys needed?"],
    ),
    Mistake(
        "features_repeated",
        before_the_split(lambda features, n_repeats: features.repeat_interleave(n_repeats, dim=-1)),
        STEPS.but(
            keys=lambda self, split, n_repeats, from_keys: split(
                from_keys.repeat_interleave(n_repeats, dim=-1), self.n_heads
            )
        ),
        does="each feature of the keys is repeated before the split, not each head after it",
        says=(
            "Each *feature* is repeated, before the split: then the heads hold copies of a few features each. What "
            "belongs together is a head. Look at the order of the two, split and repeat."
        ),
        hints=["Of keys with the features 0 1 2 3 in 2 heads, which should 4 heads of queries meet? 01, 01, 23, 23."],
    ),
    Mistake(
        "queries_in_fewer_heads",
        STEPS.but(queries=lambda self, split, from_queries: split(from_queries, self.n_kv_heads)).attempt,
        STEPS.but(
            queries=lambda self, split, from_queries: split(from_queries, self.n_kv_heads),
            repeated=lambda: as_it_is,
        ).attempt,
        says=(
            "The queries are split into `n_kv_heads` heads, and are too wide for the keys then. Only keys and values "
            "have so few. Look at the numbers in the split."
        ),
        hints=[
            "How many heads of queries are there, and how wide is each?",
            "There are two numbers of heads.",
            LEFT_WITH,
        ],
    ),
    Mistake(
        "keys_in_too_many_heads",
        STEPS.but(
            keys=lambda self, split, from_keys: split(from_keys, self.n_heads),
            values=lambda self, split, from_values: split(from_values, self.n_heads),
        ).attempt,
        STEPS.but(
            keys=lambda self, split, repeated, from_keys: repeated(split(from_keys, self.n_heads)),
            values=lambda self, split, repeated, from_values: repeated(split(from_values, self.n_heads)),
        ).attempt,
        STEPS.but(keys=lambda self, split, from_keys: split(from_keys, self.n_heads)).attempt,
        STEPS.but(values=lambda self, split, from_values: split(from_values, self.n_heads)).attempt,
        says=(
            "Keys or values are split into `n_heads` heads, and are too narrow for the queries then, or cannot be cut "
            "like this. There are fewer heads of them. Look at the numbers in the split."
        ),
        hints=[
            "How many features have the keys, and how wide is a head?",
            "There are two numbers of heads.",
            LEFT_WITH,
        ],
    ),
]


def _viewed(features: Tensor, n_heads: int) -> Tensor:
    """Cut features into heads without a transposition."""
    return features.reshape(len(features), n_heads, features.shape[1], -1)


SPLITTING = [
    attention_mistakes.split_by_view(
        STEPS.but(split=lambda: _viewed),
        STEPS.but(
            split=lambda: _viewed,
            merged=lambda mixture, x: mixture.reshape(x.shape),
        ),
        STEPS.but(
            keys=lambda self, repeated, from_keys: repeated(_viewed(from_keys, self.n_kv_heads)),
            values=lambda self, repeated, from_values: repeated(_viewed(from_values, self.n_kv_heads)),
        ),
        STEPS.but(queries=lambda self, from_queries: _viewed(from_queries, self.n_heads)).attempt,
    ),
    attention_mistakes.heads_interleaved(
        STEPS.but(split=lambda: lambda features, n_heads: features.unflatten(-1, (-1, n_heads)).permute(0, 3, 1, 2))
    ),
    Mistake(
        "heads_not_in_front",
        STEPS.but(split=lambda: lambda features, n_heads: features.unflatten(-1, (n_heads, -1))).attempt,
        STEPS.but(
            split=lambda: lambda features, n_heads: features.unflatten(-1, (n_heads, -1)),
            repeated=lambda n_repeats: lambda heads: heads.repeat_interleave(n_repeats, dim=2),
            merged=lambda mixture: mixture.flatten(2),
        ).attempt,
        says=(
            "The heads are not brought in front of the positions, so within each position heads are compared with "
            "heads. Look at the shape of the scores."
        ),
        hints=[
            "The scores should have the shape (batch, n_heads, n, n). Which have they?",
            "A product works on the last two axes. Which two are these?",
            "Swap axes 1 and 2 after the cut, and back before the merging.",
        ],
    ),
    Mistake(
        "split_without_their_number",
        STEPS.but(queries=lambda from_queries: parts.split_heads(from_queries)).attempt,
        says="`split_heads` is not told into how many heads it should split the features.",
        hints=["Which two arguments does `split_heads` take?", "There are two numbers of heads.", LEFT_WITH],
    ),
]

MISTAKES = [*SHARING, *SPLITTING, *attention_mistakes.of_the_merging(STEPS, "x")]
