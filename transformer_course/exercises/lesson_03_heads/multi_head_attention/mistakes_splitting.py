"""Mistakes in making heads: splitting and merging."""

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_03_heads.multi_head_attention.answer import STEPS
from transformer_course.exercises.shared import attention_mistakes
from transformer_course.exercises.shared.library_parts import parts


def split_as_queries(width_of_head):
    """Return how to split by the lengths of the queries, whatever is split."""

    def split(self, query):
        batch, n_query, d_model = query.shape
        d_k = width_of_head(d_model // self.n_heads)
        return lambda x: x.view(batch, n_query, self.n_heads, d_k).transpose(1, 2)

    return split


def split_by_reshaping(self):
    """Return how to split without a transposition."""
    return lambda x: x.reshape(len(x), self.n_heads, x.shape[1], -1)


def as_it_is(self):
    """Return how not to split."""
    return lambda x: x


def one_width(self, from_query):
    """Return the width of a head, though there are none."""
    return from_query.shape[-1] // self.n_heads


def of_all_heads(mask):
    """Take the heads of a mask for sentences."""
    return mask if mask is None else mask.reshape(-1, *mask.shape[-2:])


MISTAKES = [
    attention_mistakes.split_by_view(STEPS.but(split=split_by_reshaping)),
    attention_mistakes.heads_interleaved(
        STEPS.but(split=lambda self: lambda x: x.unflatten(-1, (-1, self.n_heads)).permute(0, 3, 1, 2))
    ),
    Mistake(
        "split_and_merged_by_view",
        STEPS.but(split=split_by_reshaping, merged=lambda mixture, query: mixture.reshape(query.shape)),
        does="heads are split and merged without a transposition, so that they get positions instead of features",
        says=(
            "The heads got positions instead of features: the projections are reshaped without a transposition, and "
            "the heads are merged in the same way. Look at how they are split."
        ),
        hints=[
            "`parts.split_heads` and `parts.merge_heads` do it right. What do they do that is missing here?",
            "`view` never changes the order of the numbers, and in x they lie position by position.",
            "Cut to (batch, n, n_heads, d_k) first, then swap axes 1 and 2; and back before the merging.",
        ],
    ),
    Mistake(
        "keys_as_long_as_queries",
        STEPS.but(split=split_as_queries(lambda d_k: d_k)).attempt,
        STEPS.but(split=split_as_queries(lambda d_k: -1)).attempt,
        says=(
            "The keys are reshaped as if there were as many of them as queries. In self-attention that is so; in "
            "cross-attention it crashes. Look at where the lengths come from."
        ),
        hints=[
            "With 3 queries and 5 keys, which of the three reshapings fails?",
            "Each of the three has a length of its own. Which one is used?",
            "Take the length of the keys from `key.shape[1]`, or use `parts.split_heads`.",
        ],
    ),
    Mistake(
        "heads_meet_heads",
        STEPS.but(
            split=lambda self: lambda x: x.unflatten(-1, (self.n_heads, -1)),
            merged=lambda mixture: mixture.flatten(2),
        ),
        STEPS.but(split=lambda self: lambda x: x.unflatten(-1, (self.n_heads, -1))),
        does="the heads are not brought in front of the positions",
        says=(
            "The heads were never brought in front of the positions, so within each position heads are compared with "
            "heads, and no position attends to any other. Look at the shape of the scores."
        ),
        hints=["The scores should have the shape (batch, n_heads, n_query, n_key). Which have they?"],
    ),
    Mistake(
        "one_big_head",
        STEPS.but(split=lambda self: lambda x: x.unsqueeze(1), merged=lambda mixture: mixture.squeeze(1)),
        STEPS.but(split=as_it_is, merged=lambda mixture: mixture, width=one_width, mask=of_all_heads).attempt,
        does="one head as wide as the model takes the place of all heads",
        says=(
            "This is one head as wide as the model. MultiHead(…) is not one attention of the projections: each head "
            "has weights of its own. Look at where `n_heads` is used."
        ),
        hints=["How many tables of weights should there be for each sentence?"],
    ),
    Mistake(
        "one_big_head_with_masks_as_they_come",
        STEPS.but(split=as_it_is, merged=lambda mixture: mixture).attempt,
        STEPS.but(split=as_it_is, merged=lambda mixture: mixture, hidden=lambda: None).attempt,
        STEPS.but(split=as_it_is, merged=lambda mixture: mixture, width=one_width).attempt,
        says=(
            "The projections are never split: this is one head as wide as the model, and a mask with an axis for the "
            "heads does not fit, or is not used. Look at where `n_heads` comes in."
        ),
        hints=[
            "How many tables of weights should there be for each sentence?",
            "Between the projections and the attention a step is missing.",
            "Split q, k and v into heads, and merge the heads afterwards.",
        ],
    ),
    Mistake(
        "heads_added_up",
        STEPS.but(merged=lambda mixture: mixture.sum(dim=1)).attempt,
        STEPS.but(merged=lambda mixture: mixture.mean(dim=1)).attempt,
        says=(
            "The heads are made into one by adding or averaging, and the result is too narrow for `w_o`. They should "
            "be put side by side."
        ),
        hints=[
            "How wide are h heads of width d_model / h side by side?",
            "Concat, not sum.",
            "`parts.merge_heads`.",
        ],
    ),
    Mistake(
        "split_without_their_number",
        STEPS.but(queries=lambda from_query: parts.split_heads(from_query)).attempt,
        says="`split_heads` is not told into how many heads it should split the features.",
        hints=[
            "Which two arguments does `split_heads` take?",
            "Where does the module keep the number of its heads?",
            "`parts.split_heads(self.w_q(query), self.n_heads)`.",
        ],
    ),
    *attention_mistakes.of_the_merging(STEPS, "query"),
]
