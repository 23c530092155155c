"""What goes wrong in making heads, and in scores, mask and weights: with heads, and with a mask that may be None."""

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_03_heads.multi_head_attention.answer import STEPS
from transformer_course.exercises.shared import attention_mistakes
from transformer_course.exercises.shared.dropout_mistakes import dropped


def split_by_reshaping(self):
    """Return how to split without a transposition."""
    return lambda x: x.reshape(len(x), self.n_heads, x.shape[1], -1)


MISTAKES = [
    Mistake(
        "not_projected",
        STEPS.but(from_query=lambda query: query, from_key=lambda key: key, from_value=lambda value: value),
        does="the inputs are attended to as they come, without `w_q`, `w_k` and `w_v`",
        hints=["After `output.sum().backward()`, is there a layer whose `.weight.grad` is None?"],
    ),
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
        hints=["`parts.split_heads` and `parts.merge_heads` do it right. What do they do that is missing here?"],
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
        does="one head as wide as the model takes the place of all heads",
        says=(
            "This is one head as wide as the model. MultiHead(…) is not one attention of the projections: each head "
            "has weights of its own. Look at where `n_heads` is used."
        ),
        hints=["How many tables of weights should there be for each sentence?"],
    ),
    *attention_mistakes.of_the_merging(STEPS, "query"),
    Mistake(
        "mask_taken_for_granted",
        STEPS.but(hidden=lambda visible: ~visible).attempt,
        STEPS.but(scores=lambda scaled, visible, fill: scaled.masked_fill(visible == 0, fill)).attempt,
        says=(
            "It crashes as soon as there is no mask: `mask` is then None, and None is no tensor. Look at what "
            "happens to the scores in that case."
        ),
        hints=[
            "What is `mask` if nobody gives one?",
            "Without a mask, the scores stay as they are.",
            "`if mask is not None:` before the filling.",
        ],
    ),
    dropped(STEPS, "weights", name="weights_dropped"),
    *attention_mistakes.of_the_heads(STEPS, "query", "n_query"),
    *attention_mistakes.of_a_mask_that_may_be_none(STEPS),
    *attention_mistakes.of_the_scaling(STEPS),
    *attention_mistakes.of_the_width_of_heads(STEPS, "query"),
    *attention_mistakes.also_with_a_low_number(
        [*attention_mistakes.of_the_mask(STEPS), *attention_mistakes.of_the_softmax(STEPS)],
        "mask_inverted",
        "mask_transposed",
    ),
    *attention_mistakes.without(attention_mistakes.of_the_transposition(STEPS), "transposes_the_batch"),
    *attention_mistakes.of_the_products(STEPS),
    *attention_mistakes.of_the_mixture(STEPS),
]
