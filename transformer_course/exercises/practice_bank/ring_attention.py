"""Causal attention over a text that is split among devices: keys and values travel around a ring.

``blockwise_attention`` in lesson 10 merges blocks on one device and without a mask. Here, every device starts with its
own block, and the device's position in the ring determines which keys its queries may attend to.
"""

from itertools import accumulate, pairwise

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def ring_attention(
    queries: Float[Tensor, "n_devices n d_k"],
    keys: Float[Tensor, "n_devices n d_k"],
    values: Float[Tensor, "n_devices n d_v"],
) -> Float[Tensor, "n_devices n d_v"]:
    """Compute causal attention over the n_devices · n positions; each device holds one block of keys at a time."""
    own = held = torch.arange(queries.shape[0] * queries.shape[1]).view(queries.shape[:2])  # the positions
    largest = torch.full_like(queries[..., :1], -torch.inf)
    total = mixture = torch.zeros_like(largest)
    for _ in range(len(queries)):
        scores = queries @ keys.mT / queries.shape[-1] ** 0.5
        scores = scores.masked_fill(held[:, None, :] > own[:, :, None], -torch.inf)
        new_largest = torch.maximum(largest, scores.amax(dim=-1, keepdim=True))
        correction, exponentials = torch.exp(largest - new_largest), torch.exp(scores - new_largest)
        total = correction * total + exponentials.sum(dim=-1, keepdim=True)
        mixture = correction * mixture + exponentials @ values
        largest = new_largest
        keys, values, held = (x.roll(1, dims=0) for x in (keys, values, held))  # to the next device
    return mixture / total


def own(queries):
    """number the positions of all devices → the position of each query, (n_devices, n)"""
    n_devices, n, _ = queries.shape
    return torch.arange(n_devices * n).view(n_devices, n)


def hops(queries):
    """count the steps around the ring → the steps around the ring: 0, 1, …, n_devices − 1"""
    return list(range(len(queries)))


def held(own, hops):
    """pass the positions on → the positions of the keys that each device holds, at each step"""
    return [own.roll(hop, dims=0) for hop in hops]


def held_keys(keys, hops):
    """pass the keys on → the keys that each device holds, at each step"""
    return [keys.roll(hop, dims=0) for hop in hops]


def held_values(values, hops):
    """pass the values on → the values that each device holds, at each step"""
    return [values.roll(hop, dims=0) for hop in hops]


def scores(queries, held_keys):
    """multiply each device's queries by the keys it holds, and scale → the scores of each step, (n_devices, n, n)"""
    return [queries @ block.mT / queries.shape[-1] ** 0.5 for block in held_keys]


def masked(scores, own, held):
    """set the scores of later positions to −∞ → the masked scores of each step"""
    return [
        block.masked_fill(positions[:, None, :] > own[:, :, None], -torch.inf)
        for block, positions in zip(scores, held, strict=True)
    ]


def block_largest(masked):
    """find the largest score of each query in each step → the largest score of each query in each step"""
    return [block.amax(dim=-1, keepdim=True) for block in masked]


def largest(block_largest):
    """update the largest score so far → the largest score of each query so far, at each step"""
    return list(accumulate(block_largest, torch.maximum))


def exponentials(masked, largest):
    """take `exp` of the scores minus the largest score so far → the exponentials of each step"""
    return [torch.exp(block - so_far) for block, so_far in zip(masked, largest, strict=True)]


def corrections(largest):
    """take `exp` of old maximum − new maximum → the factors for the sums so far: exp(old maximum − new maximum)"""
    return [torch.zeros_like(largest[0]), *(torch.exp(old - new) for old, new in pairwise(largest))]


def total(exponentials, corrections):
    """correct and extend the sum of the exponentials → the sum of all exponentials"""
    so_far = torch.zeros_like(corrections[0])
    for block, correction in zip(exponentials, corrections, strict=True):
        so_far = correction * so_far + block.sum(dim=-1, keepdim=True)
    return so_far


def mixture(exponentials, held_values, corrections):
    """correct and extend the weighted sum of the values → the sum of all values, each times its exponential"""
    so_far = torch.zeros_like(corrections[0])
    for block, block_values, correction in zip(exponentials, held_values, corrections, strict=True):
        so_far = correction * so_far + block @ block_values
    return so_far


def output(mixture, total):
    """divide the weighted sum by the sum of the exponentials → the output: weighted sum / sum of exps"""
    return mixture / total


STEPS = InSteps(
    own, hops, held, held_keys, held_values, scores, masked, block_largest, largest, exponentials, corrections, total,
    mixture, output, reference=ring_attention,
)  # fmt: skip


def ring_attention_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(n_devices, n, d_k, d_v, shows, *, loud=1.0, most=0):
        inputs = {
            "queries": loud * normal(rng, n_devices, n, d_k),
            "keys": loud * normal(rng, n_devices, n, d_k),
            "values": normal(rng, n_devices, n, d_v),
        }
        return Case(inputs, shows, max_numbers={"queries": most} if most else {})

    rising = case(3, 2, 2, 1, "scores that rise from block to block")
    rising.inputs["queries"].abs_().add_(0.5)
    rising.inputs["keys"][:] = torch.tensor([1.0, 3.0, 9.0])[:, None, None]
    rising.inputs["keys"] += 0.1 * normal(rng, 3, 2, 2)
    falling = case(3, 2, 1, 3, "scores near 105, the largest in the first block")  # exp(89) overflows
    falling.inputs["queries"][:] = 1 + 0.2 * torch.rand(3, 2, 1, generator=rng)
    falling.inputs["keys"][:] = torch.tensor([96.0, 95.0, 60.0])[:, None, None] + torch.rand(3, 2, 1, generator=rng)
    return [
        case(1, 2, 2, 1, "one device, 2 positions"),
        rising,
        case(2, 3, 2, 4, "2 devices of 3 positions"),
        falling,
        case(3, 3, 3, 3, "3 devices of 3 positions, width 3"),
        case(4, 2, 5, 3, "4 devices of 2 positions, large scores", loud=4.0),
        # There are 60² = 3,600 scores, and the devices hold 5 · 12² = 720 scores at a time.
        case(5, 12, 7, 5, "5 devices of 12 positions: how large are the tensors?", most=3599),
    ]  # fmt: skip


def all_to_all(queries, keys, values):
    """Gather all keys and values on every device."""
    n_devices, n, d = queries.shape
    scores = queries.flatten(0, 1) @ keys.flatten(0, 1).T / d**0.5
    later = torch.ones_like(scores, dtype=torch.bool).triu(1)
    weights = scores.masked_fill(later, -torch.inf).softmax(dim=-1)
    return (weights @ values.flatten(0, 1)).view(n_devices, n, -1)


def softmax_in_each_step(masked):
    return [block.softmax(dim=-1).nan_to_num() for block in masked]


MISTAKES = [
    Mistake(
        "gathers_everything",
        all_to_all,
        message=(
            "Your numbers are right, but somewhere you store the scores of all pairs of positions. That is the "
            "memory that the ring should save. How many blocks of keys does a device need at a time?"
        ),
        hints=[
            "With 5 devices of 12 positions, how large is the largest tensor that you create? A ring step has 5 · "
            "12 · 12 scores.",
            "In each step, every device works with the block of keys it holds and then passes it on. Maximum and "
            "sums run along, as in FlashAttention.",
            "`keys.roll(1, dims=0)` passes every block to the next device.",
        ],
    ),
    Mistake(
        "merged_without_the_maximum",
        STEPS.but(
            largest=lambda block_largest: block_largest,
            exponentials=lambda masked, block_largest: [
                torch.exp(block - own.nan_to_num(neginf=0.0)) for block, own in zip(masked, block_largest, strict=True)
            ],
            corrections=lambda block_largest: [torch.ones_like(own) for own in block_largest],
        ),
        STEPS.but(
            corrections=lambda largest: [torch.ones_like(one) for one in largest],
        ),
        summary="you merge the steps without rescaling to a common maximum",
        message=(
            "You subtract a different maximum in each step and add up the results without rescaling them, so a block "
            "with small scores counts too much. Which factor rescales the earlier sums to the new maximum?"
        ),
        hints=["Sums made with maximum 3 meet a block with maximum 5. What should they be multiplied by?"],
    ),
    Mistake(
        "never_subtracts_a_maximum",
        STEPS.but(
            largest=lambda block_largest: [torch.zeros_like(one) for one in block_largest],
        ),
        summary="you never subtract a maximum",
        message="You take `exp` of the scores as they are. exp(100) is infinite in float32. Which number do you "
        "subtract, and what happens to the earlier sums when a later block has a larger score?",
        hints=["What is `torch.tensor(100.0).exp()`?"],
    ),
    Mistake(
        "averages_the_steps",
        STEPS.but(
            exponentials=softmax_in_each_step,
            corrections=lambda block_largest: [torch.ones_like(one) for one in block_largest],
        ),
        summary="you take a separate softmax in each step",
        message="You take a separate softmax in each step, so every block that may be seen counts the same. A block "
        "of small scores should contribute little. What has to be shared by all blocks of a query?",
        hints=["If one block holds all the large scores, how much should the others contribute?"],
    ),
    Mistake(
        "not_causal",
        STEPS.but(masked=lambda scores: scores),
        summary="you let positions attend to later ones",
        message="Your attention is not causal: the first device sees the blocks of all later ones. Which blocks may "
        "a device use, and what about its own?",
        hints=["If the last token changes, may the output at the first position change?"],
    ),
    Mistake(
        "causal_in_every_block",
        STEPS.but(
            masked=lambda scores: [
                block.masked_fill(torch.ones(block.shape[-2:], dtype=torch.bool).triu(1), -torch.inf)
                for block in scores
            ]
        ),
        STEPS.but(held=lambda own, hops: [own for _ in hops]),
        STEPS.but(
            masked=lambda masked: [
                block.masked_fill(torch.ones(block.shape[-2:], dtype=torch.bool).triu(1), -torch.inf)
                for block in masked
            ]
        ),
        summary="you use the mask of a device's own block in every step",
        message=(
            "You use the same triangular mask in every step. It fits only a device's own block: a query may attend "
            "to all of an earlier block and to nothing in a later one. Which positions should you compare in each "
            "step?"
        ),
        hints=["After one step, device 1 holds the keys of device 0. Which of these come before its own queries?"],
    ),
    Mistake(
        "values_stay",
        STEPS.but(held_values=lambda values, hops: [values for _ in hops]),
        summary="you pass the keys on and leave the values behind",
        message=(
            "You pass the keys on, but not the values, so the weights for one block meet the values of another. "
            "Which two tensors have to travel together?"
        ),
        hints=["After one step, device 1 holds the keys of device 0. Whose values should it mix?"],
    ),
    Mistake(
        "one_step_too_few",
        STEPS.but(hops=lambda queries: list(range(max(len(queries) - 1, 1)))),
        summary="you go one step too few around the ring",
        message=(
            "You stop one step too early, so no device sees every block. Including its own block, how many blocks "
            "should each device see?"
        ),
        hints=["With 3 devices, how often are keys passed on, and how many blocks does a device use?"],
    ),
    Mistake(
        "own_block_not_masked",
        STEPS.but(
            masked=lambda scores, own, held: [
                block.masked_fill(positions[:, :1, None] > own[:, :1, None], -torch.inf)
                for block, positions in zip(scores, held, strict=True)
            ]
        ),
        summary="you don't mask out later positions inside a device's own block",
        message="You hide the blocks of later devices, but inside its *own* block a query still sees later positions. "
        "With one block of 2 positions, what may the first query attend to?",
        hints=["With one device, is your attention causal?"],
    ),
    Mistake(
        "weighted_sum_not_rescaled",
        STEPS.but(
            mixture=lambda exponentials, held_values: sum(
                block @ block_values for block, block_values in zip(exponentials, held_values, strict=True)
            )
        ),
        summary="you don't rescale the weighted sum of the values",
        message=(
            "You rescale the sum of the exponentials to the new maximum, but not the weighted sum of the values. You "
            "computed both with the old maximum. What should you multiply the weighted sum by?"
        ),
        hints=["When a larger score arrives, which of your running variables contain the old maximum?"],
    ),
]

EXERCISE = Exercise(
    reference=ring_attention,
    steps=STEPS,
    cases=ring_attention_cases,
    points=4,
    stretch=True,
    verified="Every device ends with the causal attention over the whole text and never held more than one block of "
    "keys.",
    hints=[
        "Three devices hold the blocks 0, 1 and 2. After one step around the ring, device 1 holds block 0. What may "
        "its queries see of it? And what may device 0 see of block 2?",
        "It is FlashAttention with the blocks arriving from a neighbor: a running maximum, a running sum of "
        "exponentials and a running weighted sum of values, rescaled whenever the maximum grows.",
        "Start with the own block. In each step, score the queries against the keys that the device holds, set later "
        "positions to −∞, update maximum and both sums, and roll keys, values and positions by one device. Divide at "
        "the end.",
        "`keys.roll(1, dims=0)` passes the keys on, and "
        "`scores.masked_fill(held[:, None, :] > own[:, :, None], -torch.inf)` is the mask.",
    ],
    mistakes=MISTAKES,
)
