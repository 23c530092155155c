"""Store a weight matrix in 4 bits, with a scale and a minimum for each group of weights.

``quantize_per_channel`` in the practice bank keeps one scale per row and no minimum, because 8 bits are precise enough.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared.draw_cases import generator, uniform
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def quantize_groups(
    weight: Float[Tensor, "d_out d_in"], group: int
) -> tuple[Int[Tensor, "d_out d_in"], Float[Tensor, "d_out n_groups"], Float[Tensor, "d_out n_groups"]]:
    """Return codes from 0 to 15, and each group's scale and minimum: code · scale + minimum is near the weight."""
    groups = weight.unflatten(1, (-1, group))  # (d_out, n_groups, group)
    low, high = groups.amin(dim=-1), groups.amax(dim=-1)
    scale = torch.where(high > low, (high - low) / 15, 1.0)
    codes = ((groups - low[..., None]) / scale[..., None]).round()
    return codes.flatten(1).to(torch.int8), scale, low


def groups(weight, group):
    """cut each row into groups → the groups, (d_out, n_groups, group)"""
    return weight.unflatten(1, (-1, group))


def low(groups):
    """find the smallest weight of each group → the minimum of each group"""
    return groups.amin(dim=-1)


def high(groups):
    """find the largest weight of each group → the maximum of each group"""
    return groups.amax(dim=-1)


def span(high, low):
    """subtract the minimum from the maximum → the range of each group: maximum − minimum"""
    return high - low


def step_size(span):
    """divide the range by 15 → the step size of each group: range / 15"""
    return span / 15


def scale(step_size, span):
    """give groups of equal weights the scale 1 → the scale of each group, (d_out, n_groups)"""
    return torch.where(span > 0, step_size, 1.0)


def shifted(groups, low):
    """subtract the minimum of the group → the weights above the minimum"""
    return groups - low[..., None]


def divided(shifted, scale):
    """divide by the scale of the group → the unrounded codes, from 0 to 15"""
    return shifted / scale[..., None]


def rounded(divided):
    """round to the nearest whole number → the rounded numbers"""
    return divided.round()


def joined(rounded):
    """join the groups of each row again → the codes as rows, (d_out, d_in)"""
    return rounded.flatten(1)


def codes(joined):
    """convert the codes to int8 → the codes as whole numbers"""
    return joined.to(torch.int8)


def result(codes, scale, low):
    """return the codes, the scales and the minimums → the codes, scales and minimums"""
    return codes, scale, low


STEPS = InSteps(
    groups, low, high, span, step_size, scale, shifted, divided, rounded, joined, codes, result,
    reference=quantize_groups,
)  # fmt: skip


def quantize_groups_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def rows(d_out: int, n_groups: int, group: int) -> Tensor:
        """Draw groups of weights with very different scales. Every weight is clearly nearest to one step."""
        shape = d_out, n_groups, group
        steps = torch.randint(1, 15, shape, generator=rng) + 0.7 * torch.rand(shape, generator=rng) - 0.35
        order = torch.rand(shape, generator=rng).argsort(dim=-1)
        ends = torch.cat([torch.tensor([0.0, 15.0]), torch.zeros(group - 2)]).expand(shape).gather(-1, order)
        is_end = order < 2  # one weight is the minimum, and one is the maximum
        sizes = 10 ** (3 * torch.rand(d_out, n_groups, 1, generator=rng) - 2)
        lows = (40 * torch.rand(d_out, n_groups, 1, generator=rng) - 27) * sizes
        return (lows + sizes * torch.where(is_end, ends, steps)).flatten(1)

    def case(weight: Tensor, group: int, shows: str) -> Case:
        return Case({"weight": weight, "group": group}, shows, constants=("weight",))

    equal = rows(3, 2, 4)
    equal[1, 4:] = uniform(rng, 0.3, 0.7)
    return [
        case(torch.tensor([[-0.5, 1.0, uniform(rng, 0.28, 0.32)]]), 3, "one group, from −0.5 to 1"),
        case(torch.tensor([[2.0, 3.5, uniform(rng, 2.68, 2.72)]]), 3, "one group, from 2 to 3.5"),
        case(rows(2, 3, 4), 4, "2 rows of 3 groups of 4"),
        case(equal, 4, "3 rows of 2 groups of 4, one of them with equal weights"),
        case(rows(4, 3, 3), 3, "3 groups of 3"),
        case(rows(5, 1, 7), 7, "5 rows of one group"),
        case(rows(7, 5, 16), 16, "7 rows of 5 groups of 16"),
    ]


MISTAKES = [
    Mistake(
        "one_group_per_row",
        STEPS.but(groups=lambda weight: weight[:, None]),
        summary="you take the minimum and the maximum of the whole row",
        message=(
            "You take the minimum and the maximum of the whole row, so a single large weight makes the steps coarse "
            "for every weight in the row. How many scales does a row of 12 weights need if `group` is 4?"
        ),
        hints=["For a row of 12 weights and groups of 4, what shape should `scale` have?"],
    ),
    Mistake(
        "strided_groups",
        STEPS.but(
            groups=lambda weight, group: weight.unflatten(1, (group, -1)).mT,
            joined=lambda rounded: rounded.mT.flatten(1),
        ),
        summary="your groups contain weights from all over the row",
        message=(
            "Your groups contain weights from all over the row: with 12 weights and groups of 4, the first group "
            "contains weights 0, 3, 6 and 9 instead of 0, 1, 2 and 3. Which of the two new dimensions should count "
            "the groups?"
        ),
        hints=["Which weights are in your first group if a row holds 0, 1, …, 11 and `group` is 4?"],
    ),
    Mistake(
        "divides_by_16",
        STEPS.but(step_size=lambda span: span / 16),
        STEPS.but(step_size=lambda span: span / 16, rounded=lambda divided: divided.round().clamp(0, 15)),
        summary="you divide the range by 16",
        message=(
            "You divide the range by 16, so the largest weight of a group gets code 16, which doesn't fit into 4 "
            "bits, or is clamped to 15. How many steps are there from code 0 to code 15?"
        ),
        hints=["Which code should the largest weight of a group get, and which code does it get before you clamp it?"],
    ),
    Mistake(
        "divides_by_7",
        STEPS.but(step_size=lambda span: span / 7),
        STEPS.but(step_size=lambda span: span / 8),
        summary="you divide the range by 7 or 8",
        message=(
            "You divide the range by 7 or 8, so about half of the 16 codes are never used. Symmetric quantization has "
            "about 7 steps on each side of 0, but here the range starts at the minimum. How many steps should it have?"
        ),
        hints=["Which code does the largest weight of a group get in your code?"],
    ),
    Mistake(
        "symmetric_range",
        STEPS.but(
            low=lambda groups: -groups.abs().amax(dim=-1),
            high=lambda groups: groups.abs().amax(dim=-1),
        ),
        summary="your range is symmetric around 0",
        message=(
            "Your range goes from −max|w| to max|w|, so all weights of a group from 2 to 3.5 share the last few "
            "codes. Where should the range begin and end?"
        ),
        hints=["For a group from 2 to 3.5, how many of your 16 codes are used?"],
    ),
    Mistake(
        "range_includes_zero",
        STEPS.but(low=lambda low: low.clamp(max=0)),
        STEPS.but(low=lambda low: low.clamp(max=0), high=lambda high: high.clamp(min=0)),
        summary="you stretch the range until it includes 0",
        message=(
            "You stretch the range until it includes 0, so a group from 2 to 3.5 wastes more than half of its codes. "
            "Libraries do this to store 0 exactly, but this exercise uses each group's own range. Where should the "
            "range begin?"
        ),
        hints=["For a group from 2 to 3.5, which weight should get code 0?"],
    ),
    Mistake(
        "zero_point",
        STEPS.but(
            shifted=lambda groups, low, scale: groups - (low / scale).round()[..., None] * scale[..., None],
            result=lambda codes, scale, low: (codes, scale, (low / scale).round() * scale),
        ),
        STEPS.but(
            shifted=lambda groups, low, scale: groups - (low / scale).round()[..., None] * scale[..., None],
            rounded=lambda divided: divided.round().clamp(0, 15),
            result=lambda codes, scale, low: (codes, scale, (low / scale).round() * scale),
        ),
        STEPS.but(result=lambda codes, scale, low: (codes, scale, (-low / scale).round())),
        STEPS.but(
            shifted=lambda groups, low, scale: groups + (-low / scale).round()[..., None] * scale[..., None],
            rounded=lambda divided: divided.round().clamp(0, 15),
            result=lambda codes, scale, low: (codes, scale, (-low / scale).round()),
        ),
        summary="you round the minimum to a whole number of steps",
        message=(
            "You round the minimum to a whole number of steps, a *zero point*, as many libraries do. In this "
            "exercise, a weight is code · scale + minimum, so the minimum should not be rounded. What should the "
            "third tensor contain?"
        ),
        hints=["For the group [2, 3.5], what do you return as the third tensor?"],
    ),
    Mistake(
        "truncates",
        STEPS.but(rounded=lambda divided: divided.floor()),
        summary="you truncate the scaled weights instead of rounding them",
        message=(
            "You truncate the scaled weights, so 6.9 becomes 6. The error is always toward the minimum and can be "
            "almost a whole step. What should you do before you convert to integers?"
        ),
        hints=["Which code is nearest to 6.9, and which code do you store?"],
    ),
    Mistake(
        "scale_of_equal_weights",
        STEPS.but(scale=lambda step_size: step_size),
        summary="you give a group of equal weights the scale 0",
        message=(
            "You give a group of equal weights the scale 0, so you divide 0 by 0 and get nan. This exercise uses a "
            "scale of 1 for such a group. Where do you check whether the maximum equals the minimum?"
        ),
        hints=["For the group [0.5, 0.5], what are the minimum, the maximum and your scale?"],
    ),
    Mistake(
        "signed_codes",
        STEPS.but(codes=lambda joined: (joined - 8).to(torch.int8)),
        summary="your codes run from −8 to 7",
        message=(
            "Your codes run from −8 to 7, but in this exercise a weight is code · scale + minimum, so all your "
            "weights come out 8 steps too small. Which code should the smallest weight of a group get?"
        ),
        hints=["For the smallest weight of a group, what is your code · scale + minimum?"],
    ),
    Mistake(
        "dimensions_kept",
        STEPS.but(result=lambda codes, scale, low: (codes, scale[..., None], low[..., None])),
        summary="you return the scales and minimums with an extra dimension",
        message=(
            "You return scales and minimums of shape (d_out, n_groups, 1). They should have shape (d_out, n_groups). "
            "You need the extra dimension only to broadcast in the subtraction and the division."
        ),
        hints=["For 7 rows of 5 groups, what should `scale.shape` be?"],
    ),
]


def with_integer_codes(output, case):
    """Convert integer codes to int32, because every integer dtype is correct."""
    if not isinstance(output, tuple | list) or not output:
        return output
    codes, *others = output
    if isinstance(codes, Tensor) and not codes.is_floating_point() and codes.dtype != torch.bool:
        codes = codes.to(torch.int32)
    return type(output)((codes, *others))


EXERCISE = Exercise(
    reference=quantize_groups,
    steps=STEPS,
    cases=quantize_groups_cases,
    points=3,
    verified=(
        "Each group uses the codes from 0 to 15, whatever its range, and no weight is off by more than half a step."
    ),
    hints=[
        "A group goes from −0.5 to 1, and there are 16 codes. How large is one step, and which code does 0.3 get?",
        "Cut each row into groups with `unflatten` or `view`. Each group has its own minimum and its own step, "
        "(maximum − minimum) / 15. A group of equal weights gets the scale 1.",
        "The code of a weight is (weight − minimum) / scale, rounded. Both come from the weight's own group, so they "
        "need an extra dimension for broadcasting.",
        "`groups = weight.unflatten(1, (-1, group))`, `low = groups.amin(dim=-1)`, and "
        "`codes = ((groups - low[..., None]) / scale[..., None]).round()`. Flatten the codes to rows again.",
    ],
    messages={
        "part_left_out_shifted": Wording(
            "You never subtract the minimum of a group from its weights. In a group from 2 to 3.5, the scale is 0.1, "
            "so your codes go from 20 to 35 instead of 0 to 15. What should you subtract first?",
            summary="you never subtract the minimum of a group from its weights",
        ),
        "part_left_out_span": Wording(
            "You use only one end of a group as its range, so a group from 2 to 3.5 doesn't get steps of 1.5/15 = "
            "0.1. What is the distance from the smallest to the largest weight of a group?",
            summary="you use only one end of a group as its range",
        ),
        "part_left_out_step_size: span": Wording(
            "{summary}, so all codes are 0 or 1. Which code should the largest weight of a group get?",
            summary="you use the whole range as the scale",
        ),
    },
    mistakes=MISTAKES,
    normalize=with_integer_codes,
)
