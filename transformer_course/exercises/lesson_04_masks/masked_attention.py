"""Attention that leaves out what it may not see."""

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
    """Let every query average the values it may attend to, by scaled scores; zeros if there are none."""
    scores = queries @ keys.transpose(-2, -1) / queries.shape[-1] ** 0.5
    sees_nothing = ~mask.any(dim=-1, keepdim=True)
    allowed = mask | sees_nothing  # no row of -inf reaches the softmax: its result and its gradient would be nan
    weights = torch.softmax(scores.masked_fill(~allowed, -torch.inf), dim=-1)
    return weights.masked_fill(sees_nothing, 0.0) @ values


def empty(visible):
    """find the queries that may see nothing → which queries may see nothing"""
    return ~visible.any(dim=-1, keepdim=True)


def hidden(visible, empty):
    """hide nothing where a query may see nothing → what is hidden, except in rows in which everything is"""
    return ~(visible | empty)


def scores(scaled, hidden, fill):
    """fill it in where something is hidden → the masked scores"""
    return scaled.masked_fill(hidden, fill)


def weights(probabilities, empty):
    """set the weights of queries that may see nothing to 0 → the weights"""
    return probabilities.masked_fill(empty, 0.0)


STEPS = InSteps(
    *SCALED, visible, empty, hidden, fill, scores, probabilities, weights, mixture, reference=masked_attention
)


def masked_attention_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(leading, n_query, n_key, d_k, d_v, shape, shows):
        mask = torch.rand(*shape, generator=rng) < 0.6
        mask[..., 0] = True  # every row has something to look at,
        mask[..., -1] = False  # and misses something
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
        """Make one key match every query far better or far worse than the others, by the sign of its size."""
        one = case((), shape[0] if shape[0] > 1 else 4, n_key, d_k, d_v, shape, shows)
        one.inputs["queries"].abs_().add_(0.5)
        one.inputs["keys"][-1 if size > 0 else 0] = size
        return one

    def far_worse():
        one = of_one_sign(-1e8, 2, 1, 3, (2, 3), "what may be seen matches far worse than what is hidden")
        one.inputs["mask"][:] = torch.tensor([[True, False, False], [True, True, False]])
        return one

    def extreme():
        one = case((), 3, 4, 2, 1, (3, 4), "very large scores for one query, very small ones for another")
        one.inputs["keys"].abs_().add_(0.5)
        one.inputs["queries"][0], one.inputs["queries"][1] = 130.0, -130.0
        return one

    def empty_in_a_batch():
        one = case((2, 3), 5, 5, 4, 6, (2, 1, 5, 5), "queries that see nothing in the second sentence, and gradients")
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
    """Return the answer that does nothing for a query that may see nothing, with other changes."""
    return STEPS.but(hidden=lambda visible: ~visible, weights=lambda probabilities: probabilities, **changes)


def mended_in_place(probabilities):
    """Write zeros into the weights themselves."""
    probabilities[probabilities.isnan()] = 0.0
    return probabilities


def added(scaled, visible):
    """Add −∞ where looking is not allowed: unlike ``masked_fill``, it lets gradients through."""
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
        summary="nothing is done for a query that may see nothing",
    ),
    Mistake(
        "nan_mended_too_late",
        untreated(scores=added, mixture=lambda probabilities, values: probabilities.nan_to_num() @ values).attempt,
        untreated(mixture=lambda mixture: mixture.nan_to_num()).attempt,
        message=(
            "The output is right, and the gradient is nan: inside, the empty rows still were nan, and on the way back "
            "nothing takes that away. Look at what reaches the softmax in such a row, and at what is replaced: the "
            "weights, or only the output."
        ),
        hints=[
            "Which gradients do the queries and the values get? In training, one nan ruins the whole model.",
            "The values are multiplied by the weights, so on the way back they meet the nan in them: the *weights* "
            "have to be replaced, before they meet the values. And −∞ that is *added* lets gradients through, where "
            "`masked_fill` stops them.",
            "`scores.masked_fill(~mask, -torch.inf)`, the softmax, then `weights.masked_fill(sees_nothing, 0.0)`, and "
            "only then the values.",
        ],
    ),
    Mistake(
        "mended_in_place",
        STEPS.but(hidden=lambda visible: ~visible, weights=mended_in_place).attempt,
        message=(
            "The output is right, but nothing can be learned through it: the weights are overwritten *in place*, and "
            "the softmax needs its own output again on the way back. Look at the line that replaces them."
        ),
        hints=[
            "Call it with queries that require a gradient, and `.sum().backward()` the output. What does torch say?",
            "`x[...] = 0` and names that end in `_` write into the tensor itself. Others hand out a new one.",
            "`weights = weights.masked_fill(sees_nothing, 0.0)`.",
        ],
    ),
    Mistake(
        "mask_inverted",
        STEPS.but(visible=lambda mask: ~mask),
        STEPS.but(hidden=lambda visible: visible),  # which queries see nothing is read as it should be
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
    verified="A hidden key has no influence, however well it matches; a query that may see nothing gets zeros, and "
    "the gradients stay finite.",
    hints=[
        "Score, mask, softmax, mix: only the second step is new. What must a score be so that its weight becomes "
        "exactly 0?",
        "`scores.masked_fill(places, number)` writes the number wherever `places` is True. The mask is True where "
        "looking is allowed, so which places are they?",
        "That leaves the rows in which nothing is allowed: `~mask.any(dim=-1, keepdim=True)` finds them. What may "
        "their scores be, if their weights are set to 0 after the softmax?",
        "Keep such rows away from -∞: fill where `~(mask | sees_nothing)`, take the softmax, then fill the weights "
        "with 0 where `sees_nothing`.",
    ],
    messages={
        **attention_mistakes.TOLD_OF_THE_SCALING,
        **attention_mistakes.TOLD_OF_THE_MASK,
        "other_axes_turned: keys.T": attention_mistakes.TRANSPOSES_THE_BATCH,
        "call_left_out_weights": Wording(summary="a query that may see nothing keeps the weights of its scores"),
        "all_axes_empty": Wording(
            summary="queries that may see nothing are treated apart only if none may see anything"
        ),
        "all_true_visible": (
            "The mask has no effect: every query attends to all keys. Look at what becomes of the masked scores "
            "(`masked_fill` returns a new tensor, and leaves the old one as it is)."
        ),
        "moved_probabilities: weights": (
            "Right wherever a query may see something. Where it may see nothing, all keys get the same "
            "weight, as all its scores are equally low. The output should be zeros."
        ),
    },
    mistakes=MISTAKES,
)
