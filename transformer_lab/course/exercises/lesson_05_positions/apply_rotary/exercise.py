"""Turn queries and keys by their positions."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from transformer_lab.course.exercise import Exercise, Mistake
from transformer_lab.course.exercises.shared.draw_cases import generator, normal, uniform
from transformer_lab.course.running.case import Case


def apply_rotary(
    x: Float[Tensor, "*batch n d"], positions: Int[Tensor, " n"], base: float = 10000.0
) -> Float[Tensor, "*batch n d"]:
    """Turn features (0, 1), (2, 3), … of each vector by its position times base^(−2i/d)."""
    d = x.shape[-1]
    angles = positions[:, None] * base ** (-torch.arange(0, d, 2) / d)
    cos, sin = angles.cos(), angles.sin()
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)


def apply_rotary_cases(seed: int) -> list[Case]:
    rng = generator(seed)
    base = uniform(rng, 20.0, 40.0)

    def case(shape: tuple[int, ...], positions: list[int], shows: str, **more: float) -> Case:
        return Case({"x": normal(rng, *shape), "positions": torch.tensor(positions), **more}, shows)

    return [
        case((1, 2), [1], "one vector with a single pair, at position 1"),
        case((3, 4), [0, 1, 2], "positions 0 to 2, two pairs"),
        case((3, 6), [7, 2, 4], "positions 7, 2 and 4, three pairs"),
        case((2, 4, 6), [3, 4, 5, 6], f"a batch of 2, positions 3 to 6, base {base:.1f}", base=base),
        case((2, 3, 31, 16), list(range(31)), "a batch of 2, 3 heads, positions 0 to 30"),
    ]


def _angles(x, positions, base):
    d = x.shape[-1]
    return positions[:, None] * base ** (-torch.arange(0, d, 2) / d)


def _turn(x, angles):
    cos, sin = angles.cos(), angles.sin()
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)


def turns_the_other_way(x, positions, base=10000.0):
    return _turn(x, -_angles(x, positions, base))


def pairs_features_half_the_width_apart(x, positions, base=10000.0):
    cos, sin = (wave(_angles(x, positions, base)) for wave in (torch.cos, torch.sin))
    first, second = x.chunk(2, dim=-1)
    return torch.cat([first * cos - second * sin, first * sin + second * cos], dim=-1)


def angles_and_pairs_that_do_not_match(x, positions, base=10000.0):
    angles = _angles(x, positions, base).repeat_interleave(2, dim=-1)
    first, second = x.chunk(2, dim=-1)
    return x * angles.cos() + torch.cat([-second, first], dim=-1) * angles.sin()


def angles_of_halves_for_neighbours(x, positions, base=10000.0):
    angles = _angles(x, positions, base)
    angles = torch.cat([angles, angles], dim=-1)
    partner = torch.stack([-x[..., 1::2], x[..., 0::2]], dim=-1).flatten(-2)
    return x * angles.cos() + partner * angles.sin()


def tears_pairs_apart(x, positions, base=10000.0):
    turned = _turn(x, _angles(x, positions, base))
    return torch.cat([turned[..., 0::2], turned[..., 1::2]], dim=-1)


def forgets_the_minus(x, positions, base=10000.0):
    cos, sin = (wave(_angles(x, positions, base)) for wave in (torch.cos, torch.sin))
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack([even * cos + odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)


def a_minus_too_many(x, positions, base=10000.0):
    cos, sin = (wave(_angles(x, positions, base)) for wave in (torch.cos, torch.sin))
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack([even * cos - odd * sin, odd * cos - even * sin], dim=-1).flatten(-2)


def sine_and_cosine_exchanged(x, positions, base=10000.0):
    cos, sin = (wave(_angles(x, positions, base)) for wave in (torch.cos, torch.sin))
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack([even * sin - odd * cos, even * cos + odd * sin], dim=-1).flatten(-2)


def members_exchanged(x, positions, base=10000.0):
    return _turn(x, _angles(x, positions, base)).unflatten(-1, (-1, 2)).flip(-1).flatten(-2)


def multiplies_by_the_power(x, positions, base=10000.0):
    d = x.shape[-1]
    return _turn(x, positions[:, None] * base ** (torch.arange(0, d, 2) / d))


def uses_what_it_has_just_changed(x, positions, base=10000.0):
    cos, sin = (wave(_angles(x, positions, base)) for wave in (torch.cos, torch.sin))
    out = x.clone()
    out[..., 0::2] = out[..., 0::2] * cos - out[..., 1::2] * sin
    out[..., 1::2] = out[..., 0::2] * sin + out[..., 1::2] * cos
    return out


def uses_what_it_has_just_changed_in_x(x, positions, base=10000.0):
    cos, sin = (wave(_angles(x, positions, base)) for wave in (torch.cos, torch.sin))
    x[..., 0::2] = x[..., 0::2] * cos - x[..., 1::2] * sin
    x[..., 1::2] = x[..., 0::2] * sin + x[..., 1::2] * cos
    return x


def counts_positions_itself(x, positions, base=10000.0):
    return _turn(x, _angles(x, torch.arange(x.shape[-2]), base))


def adds_the_encoding(x, positions, base=10000.0):
    angles = _angles(x, positions, base)
    return x + torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)


def angles_not_slowed_enough(x, positions, base=10000.0):
    d = x.shape[-1]
    return _turn(x, positions[:, None] * base ** (-torch.arange(d // 2) / d))


def ignores_the_base(x, positions, base=10000.0):
    return _turn(x, _angles(x, positions, 10000.0))


def shrinks_instead_of_turning(x, positions, base=10000.0):
    return x * _angles(x, positions, base).repeat_interleave(2, dim=-1).cos()


APPLY_ROTARY = Exercise(
    reference=apply_rotary,
    cases=apply_rotary_cases,
    points=3,
    verified="Each pair turns by its own angle, and any batch goes through. Next: what this does to the scores.",
    hints=[
        "Take a single pair (a, b) and an angle φ. Turned by φ it is (a cos φ − b sin φ, a sin φ + b cos φ).",
        "All the angles at once: `positions[:, None] * base ** (-torch.arange(0, d, 2) / d)`, of shape (n, d / 2). "
        "All first members of pairs are `x[..., 0::2]`, all second ones `x[..., 1::2]`.",
        "Compute the turned first and second members from these, then put them back side by side: "
        "`torch.stack([first, second], dim=-1).flatten(-2)`.",
    ],
    mistakes=[
        Mistake(
            "turns_the_other_way",
            [turns_the_other_way],
            says=(
                "Every pair turns the other way, as under the matrix of `shift_rotation`, whose pairs begin with the sine. "
                "Scores would still depend on distances only, but numbers from elsewhere would not fit. Look at which of "
                "the two sines has the minus."
            ),
            hints=[
                "Turn (1, 0) by a small angle: should the second number become positive or negative?",
                "(a, b) becomes (a cos φ − b sin φ, a sin φ + b cos φ).",
                "The minus belongs in the first member.",
            ],
        ),
        Mistake(
            "pairs_features_half_the_width_apart",
            [pairs_features_half_the_width_apart],
            says=(
                "Feature i is paired with feature i + d/2. That is as good a model, and some published ones are built so, "
                "but here neighbours are pairs: (0, 1), (2, 3), … Look at how the pairs are picked."
            ),
            hints=[
                "Which features are turned together?",
                "`x[..., 0::2]` picks features 0, 2, 4, …; `x[..., 1::2]` picks 1, 3, 5, …",
                "Use these two instead of the halves, and put the results side by side again with `torch.stack`.",
            ],
        ),
        Mistake(
            "angles_and_pairs_that_do_not_match",
            [angles_and_pairs_that_do_not_match, angles_of_halves_for_neighbours],
            says=(
                "The two features of a pair are turned by different angles: pairs are picked in one way and angles laid "
                "out in another. Lengths change, and scores depend on more than the distance."
            ),
            hints=[
                "Write down for d = 4: which features are a pair, and which angle does each of them get?",
                "Neighbours as pairs need angles that are repeated side by side; halves need angles repeated as a "
                "block.",
                "Here neighbours are pairs: multiply `x[..., 0::2]` and `x[..., 1::2]` by the same (n, d / 2) angles.",
            ],
        ),
        Mistake(
            "tears_pairs_apart",
            [tears_pairs_apart],
            says=(
                "The pairs are turned as they should be, but all first members now stand before all second ones. Look at "
                "how the results are put together."
            ),
            hints=[
                "At position 0 nothing turns: x should come out as it was. Does it?",
                "`torch.cat` puts blocks one after the other.",
                "Stack the two on a new last axis and flatten it: `torch.stack([first, second], dim=-1).flatten(-2)`.",
            ],
        ),
        Mistake(
            "forgets_the_minus",
            [forgets_the_minus, a_minus_too_many],
            says="Lengths change: this is no rotation. Of the two sines, just one has a minus.",
            hints=[
                "Print the lengths of the vectors before and after.",
                "(a, b) becomes (a cos φ − b sin φ, a sin φ + b cos φ).",
                "The minus belongs in the first member, and nowhere else.",
            ],
        ),
        Mistake(
            "sine_and_cosine_exchanged",
            [sine_and_cosine_exchanged, members_exchanged],
            says=(
                "At position 0, where nothing turns, the members of each pair come out exchanged. Either sine and cosine "
                "have changed places, or the two results."
            ),
            hints=[
                "What are sin 0 and cos 0? What becomes of (a, b) with them?",
                "(a, b) becomes (a cos φ − b sin φ, a sin φ + b cos φ), in this order.",
                "In the first member, a is multiplied by the cosine; in the second, b is.",
            ],
        ),
        Mistake(
            "multiplies_by_the_power",
            [multiplies_by_the_power],
            says="The later pairs turn faster than the first one, and not slower. Look at the sign of the exponent.",
            hints=[
                "The last pair should hardly turn from one position to the next. How far does it turn here?",
                "Is the position multiplied by base^(2i/d), or divided by it?",
                "The exponent is −2i/d.",
            ],
        ),
        Mistake(
            "uses_what_it_has_just_changed",
            [uses_what_it_has_just_changed, uses_what_it_has_just_changed_in_x],
            says=(
                "The second member of each pair is made from the first one *after* it was turned. Look at the order in "
                "which things are written."
            ),
            hints=[
                "What does `x[..., 0::2]` hold once it has been assigned to?",
                "Compute both members from the old x, then write them.",
                "Keep the old ones: `even, odd = x[..., 0::2], x[..., 1::2]`, and build something new from them.",
            ],
        ),
        Mistake(
            "counts_positions_itself",
            [counts_positions_itself],
            says=(
                "The positions that are given play no part: it counts 0, 1, 2, … by itself. Look at where the angles come "
                "from."
            ),
            hints=[
                "What if the vectors are words 7, 2 and 4 of a sentence?",
                "When a text is written word by word, the newest word comes alone, and not at position 0.",
                "Multiply `positions` by the frequencies.",
            ],
        ),
        Mistake(
            "adds_the_encoding",
            [adds_the_encoding],
            says="Sines and cosines are *added* to x. That is what lesson 05 began with; here x is turned by the angles.",
            hints=[
                "At position 0, x should come out as it was.",
                "Turned by φ, the pair (a, b) becomes (a cos φ − b sin φ, a sin φ + b cos φ).",
                "Multiply the features by cosines and sines.",
            ],
        ),
        Mistake(
            "angles_not_slowed_enough",
            [angles_not_slowed_enough],
            says="The first pair turns as it should, the later ones too fast. Look at the exponent: what counts the pairs?",
            hints=[
                "For d = 4 the exponents are 0 and −2/4.",
                "The formula says 2i, with i counting pairs.",
                "`torch.arange(0, d, 2)` gives 2i.",
            ],
        ),
        Mistake(
            "ignores_the_base",
            [ignores_the_base],
            says="The result is the same for every base: 10000 seems to be written into the formula.",
            hints=[
                "What should happen when `base` is 100?",
                "The argument has a name; a number in its place never changes.",
                "Take the power of `base`.",
            ],
        ),
        Mistake(
            "shrinks_instead_of_turning",
            [shrinks_instead_of_turning],
            says=(
                "Each feature is only multiplied by a cosine. That shrinks it; to turn a pair, each member also needs a "
                "share of the other."
            ),
            hints=[
                "Print the lengths of the vectors before and after: a rotation keeps them.",
                "Turned by φ, (a, b) becomes (a cos φ − b sin φ, a sin φ + b cos φ).",
                "The sines are missing: each takes the *other* member of the pair.",
            ],
        ),
    ],
)
