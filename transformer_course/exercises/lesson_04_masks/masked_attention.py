"""Attention with a mask."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared import attention_mistakes
from transformer_course.exercises.shared.attention_steps import SCALED, fill, mixture, visible
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.exercises.shared.head_steps import probabilities
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def masked_attention(
    queries: Float[Tensor, "*batch n_query d_k"],
    keys: Float[Tensor, "*batch n_key d_k"],
    values: Float[Tensor, "*batch n_key d_v"],
    mask: Bool[Tensor, "*#batch #n_query #n_key"],
) -> Float[Tensor, "*batch n_query d_v"]:
    """Attend to the keys that the mask allows, and return zeros for a query that may not attend to any key."""
    scores = queries @ keys.transpose(-2, -1) / queries.shape[-1] ** 0.5
    sees_nothing = ~mask.any(dim=-1, keepdim=True)
    allowed = mask | sees_nothing  # a row of -inf would give nan in the softmax and its gradient
    weights = torch.softmax(scores.masked_fill(~allowed, -torch.inf), dim=-1)
    return weights.masked_fill(sees_nothing, 0.0) @ values


def empty(visible):
    """find the queries that may attend to nothing → the fully masked queries"""
    return ~visible.any(dim=-1, keepdim=True)


def hidden(visible, empty):
    """choose the scores to hide → the hidden scores: where the mask is False, except in fully masked rows"""
    return ~(visible | empty)


def scores(scaled, hidden, fill):
    """fill the hidden scores with −∞ → the masked scores"""
    return scaled.masked_fill(hidden, fill)


def weights(probabilities, empty):
    """set the weights of fully masked queries to 0 → the weights"""
    return probabilities.masked_fill(empty, 0.0)


STEPS = InSteps(
    *SCALED, visible, empty, hidden, fill, scores, probabilities, weights, mixture, reference=masked_attention
)


def masked_attention_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(leading, n_query, n_key, d_k, d_v, shape, shows):
        mask = torch.rand(*shape, generator=rng) < 0.6
        mask[..., 0] = True  # every query may attend to at least one key
        mask[..., -1] = False  # no query may attend to all keys
        inputs = {
            "queries": normal(rng, *leading, n_query, d_k),
            "keys": normal(rng, *leading, n_key, d_k),
            "values": normal(rng, *leading, n_key, d_v),
            "mask": mask,
        }
        return Case(inputs, shows)

    def empty():
        one = case((), 3, 4, 4, 2, (3, 4), "the last query may attend to nothing")
        one.inputs["mask"][-1] = False
        return one

    def zeros():
        one = case((), 2, 3, 2, 1, (2, 3), "a query of zeros: all its scores are 0")
        one.inputs["queries"][0] = 0.0
        one.inputs["mask"][:, 1] = True
        return one

    def all_visible():
        one = case((), 2, 4, 2, 1, (2, 4), "nothing is hidden")
        one.inputs["mask"][:] = True
        return one

    def all_hidden():
        one = case((), 2, 3, 2, 2, (2, 3), "everything is hidden from all queries")
        one.inputs["mask"][:] = False
        return one

    def of_one_sign(size, d_k, d_v, n_key, shape, shows):
        """Make one key match every query far better (``size`` > 0) or far worse (``size`` < 0) than other keys."""
        one = case((), shape[0] if shape[0] > 1 else 4, n_key, d_k, d_v, shape, shows)
        one.inputs["queries"].abs_().add_(0.5)
        one.inputs["keys"][-1 if size > 0 else 0] = size
        return one

    def far_worse():
        one = of_one_sign(-1e8, 2, 1, 3, (2, 3), "a visible key matches far worse than the hidden ones")
        one.inputs["mask"][:] = torch.tensor([[True, False, False], [True, True, False]])
        return one

    def extreme():
        one = case((), 3, 4, 2, 1, (3, 4), "very large scores for one query, very small ones for another")
        one.inputs["keys"].abs_().add_(0.5)
        one.inputs["queries"][0], one.inputs["queries"][1] = 130.0, -130.0
        return one

    def empty_in_a_batch():
        one = case(
            (2, 3), 5, 5, 4, 6, (2, 1, 5, 5), "queries that may attend to nothing in the second sentence, and gradients"
        )
        one.inputs["mask"][1, :, -1] = False
        return one

    return [
        case((), 2, 3, 2, 1, (2, 3), "2 queries, 3 keys of which the last is hidden"),
        zeros(),
        all_visible(),
        empty(),
        all_hidden(),
        of_one_sign(200.0, 4, 3, 5, (1, 5), "the hidden key matches far better than the others"),
        far_worse(),
        extreme(),
        case((3,), 5, 7, 6, 2, (5, 7), "a batch of 3, one mask for all"),
        case((3, 2), 4, 5, 6, 7, (3, 1, 1, 5), "a batch of 3, 2 heads, a padding mask"),
        case((3, 2), 4, 5, 6, 7, (1, 2, 4, 5), "a batch of 3, 2 heads, a mask for each head"),
        empty_in_a_batch(),
        case((3, 2), 23, 31, 8, 11, (3, 1, 23, 31), "a batch of 3, 2 heads: 23 queries, 31 keys"),
    ]


def untreated(**changes):
    """Return the answer that does not handle fully masked queries, with the given changes to other steps."""
    return STEPS.but(hidden=lambda visible: ~visible, weights=lambda probabilities: probabilities, **changes)


def zeroed_in_place(probabilities):
    """Replace nan with zeros in place."""
    probabilities[probabilities.isnan()] = 0.0
    return probabilities


def added(scaled, visible):
    """Add −∞ to masked scores. Unlike ``masked_fill``, the addition passes gradients to them."""
    return scaled + torch.zeros(visible.shape).masked_fill(~visible, -torch.inf)


OVER_THE_QUERIES_AND_MENDED = STEPS.but(
    hidden=lambda visible: ~visible,
    probabilities=lambda scores: scores.softmax(dim=-2),
    weights=lambda probabilities: probabilities.nan_to_num(),
)

MISTAKES = [
    Mistake(
        "nan_where_nothing_is_seen",
        untreated(),
        summary="you don't handle queries that may not attend to any key",
        message=(
            "{summary}: all their scores are −∞, the softmax of such a row is nan, and nan · 0 is still nan. How can "
            "you replace the nan, or avoid it before the softmax?"
        ),
        hints=["What is `torch.full((3,), -torch.inf).softmax(dim=-1)`?"],
    ),
    Mistake(
        "nan_mended_too_late",
        untreated(scores=added, mixture=lambda probabilities, values: probabilities.nan_to_num() @ values).attempt,
        untreated(mixture=lambda mixture: mixture.nan_to_num()).attempt,
        message=(
            "Your output is right, but its gradient is nan. The softmax of a fully masked row is nan, and replacing "
            "the nan afterward doesn't fix the backward pass. Which scores do you pass to the softmax for a fully "
            "masked row?"
        ),
        hints=[
            "After `output.sum().backward()`, which of your inputs have nan gradients? In training, a single nan ruins "
            "the whole model.",
            "In the backward pass, the gradient of the values is a product with the weights, so nan weights make it "
            "nan. Replace the *weights* before the product. Also, use `masked_fill` instead of adding −∞: it blocks "
            "the gradients of masked scores.",
            "`scores.masked_fill(~mask, -torch.inf)`, the softmax, then `weights.masked_fill(sees_nothing, 0.0)`, "
            "and only then the product with the values.",
        ],
    ),
    Mistake(
        "mended_in_place",
        STEPS.but(hidden=lambda visible: ~visible, weights=zeroed_in_place).attempt,
        message=(
            "Your output is right, but the backward pass fails: you overwrite the weights *in place*, and the softmax "
            "needs its own output for its gradient. Which method returns a new tensor instead?"
        ),
        hints=[
            "Call your function with queries that require a gradient, and call `.sum().backward()` on the output. "
            "What does torch report?",
            "`x[...] = 0` and methods whose names end in `_` write into the tensor itself. Methods without `_` return "
            "a new tensor.",
            "`weights = weights.masked_fill(sees_nothing, 0.0)`.",
        ],
    ),
    Mistake(
        "mask_inverted",
        STEPS.but(visible=lambda mask: ~mask),
        STEPS.but(hidden=lambda visible: visible),  # fully masked queries are still detected
        STEPS.but(hidden=lambda visible, empty: visible & ~empty),
        STEPS.but(hidden=lambda visible: visible, fill=lambda: -1e9),
        summary=attention_mistakes.MASK_INVERTED.summary,
        message=attention_mistakes.MASK_INVERTED.message,
        hints=attention_mistakes.MASK_INVERTED.hints,
    ),
    *attention_mistakes.of_the_mask(STEPS),
    attention_mistakes.no_scaling(STEPS),
    attention_mistakes.softmax_over_the_queries(STEPS, OVER_THE_QUERIES_AND_MENDED),
    attention_mistakes.overflows(STEPS),
    *attention_mistakes.of_the_transposition(STEPS),
    *attention_mistakes.of_the_products(STEPS),
    *attention_mistakes.of_the_mixture(STEPS),
]


EXERCISE = Exercise(
    reference=masked_attention,
    steps=STEPS,
    cases=masked_attention_cases,
    points=4,
    verified=(
        "A masked key has no influence, however well it matches. A query that may attend to nothing gets zeros, and "
        "the gradients stay finite."
    ),
    hints=[
        "Score, mask, softmax, average: only the mask is new. Which score gets a weight of exactly 0?",
        "`scores.masked_fill(condition, number)` writes the number wherever the condition is True. The mask is True "
        "where a query may attend to a key, so what is the condition?",
        "That leaves the rows in which everything is hidden: `~mask.any(dim=-1, keepdim=True)` finds them. If you set "
        "the weights of these rows to 0 after the softmax, which scores can you give them before it?",
        "Keep −∞ out of fully masked rows: fill where `~(mask | sees_nothing)`, take the softmax, then fill the "
        "weights with 0 where `sees_nothing`.",
    ],
    messages={
        **attention_mistakes.ROOT_MESSAGES,
        "wrong_input_width: turned": attention_mistakes.root_of_the_number("keys"),
        "length_width: queries.shape[-2]": attention_mistakes.root_of_the_number("queries"),
        "sibling_empty: visible.all(dim=-1, keepdim=True)": Wording(
            "{summary}, so you return zeros for every query that has even one masked key. Which function is False only "
            "if the whole row is False?",
            summary="you use `all` to find the fully masked queries",
            hints=["For the row [True, False] of the mask, what do `any` and `all` return?"],
        ),
        **attention_mistakes.SCALING_MESSAGES,
        **attention_mistakes.MASK_MESSAGES,
        "other_axes_turned: keys.T": attention_mistakes.TRANSPOSES_THE_BATCH,
        "call_left_out_weights": Wording(
            "{summary}, so the output for such a query is an average of values. It should be zeros.",
            summary="you don't set the weights to 0 when a query may not attend to any key",
            hints=["What do you return for a query whose row of the mask is all False?"],
        ),
        "all_axes_empty": Wording(
            "{summary}, so a single fully masked row still gives nan. Check each row separately: which `dim` of the "
            "mask runs over the keys?",
            summary="you handle fully masked rows only if *every* row is fully masked",
            hints=[
                "If the mask has the rows [True, False] and [False, False], which query may not attend to any key? "
                "Does your code find it?"
            ],
        ),
        "all_true_visible": Wording(
            "Your mask has no effect: every query attends to all keys. (`masked_fill` returns a new tensor and leaves "
            "the original unchanged.) Which scores do you pass to the softmax?",
            summary="your mask has no effect",
            hints=["Print the scores right before the softmax. Are the masked scores −∞?"],
        ),
        "moved_probabilities: weights": Wording(
            "Your output is right for every query that may attend to some key. If a query may not attend to any key, "
            "all its scores are equal, so every key gets the same weight. The output for such a query should be zeros.",
            summary=("you give all keys the same weight when a query may not attend to any key"),
            hints=["What do you return for a query whose row of the mask is all False?"],
        ),
    },
    mistakes=MISTAKES,
)
