"""A bias that lowers each score in proportion to the distance between query and key."""

import math

import torch

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.lesson_05_positions.shared.position_mistakes import position_mistakes
from transformer_course.exercises.lesson_05_positions.shared.steps import keys, queries
from transformer_course.exercises.shared.draw_cases import digits, generator
from transformer_course.running.case import Case
from transformer_course.steps import InSteps
from transformer_lab.attention.positions import alibi_bias


def heads(n_heads):
    """number the heads from 1 → the head numbers: 1 to n_heads"""
    return torch.arange(1, n_heads + 1)


def exponents(heads, n_heads):
    """multiply the head numbers by 8 and divide by n_heads → the exponents before the sign change: 8h / n_heads"""
    return 8 * heads / n_heads


def slopes(exponents):
    """raise 2 to minus each exponent → the slopes: 2^(−8h / n_heads)"""
    return 2.0**-exponents


def offsets(queries, keys):
    """subtract each key position from each query position → the offsets from key to query, (n_query, n_key)"""
    return queries[:, None] - keys


def distances(offsets):
    """take the absolute values of the offsets → the distances: |query position − key position|"""
    return offsets.abs()


def slopes_in_front(slopes):
    """add dimensions for queries and keys to the slopes → the slopes, (n_heads, 1, 1)"""
    return slopes[:, None, None]


def penalties(slopes_in_front, distances):
    """multiply the distances by each slope → the penalties: slope times distance, (n_heads, n_query, n_key)"""
    return slopes_in_front * distances


def bias(penalties):
    """negate the penalties → the bias: minus slope times distance"""
    return -penalties


STEPS = InSteps(
    heads, exponents, slopes, queries, keys, offsets, distances, slopes_in_front, penalties, bias, reference=alibi_bias
)


def alibi_bias_cases(seed: int) -> list[Case]:
    rng = generator(seed)
    more = int(torch.randint(2, 30, (), generator=rng))
    pairs, rows = digits(seed, 5, 31)
    heads, queries = 5 + 2 * pairs, 31 + rows
    sizes = [
        (2, 2, 2, "2 heads, 2 queries and 2 keys"),
        (2, 2, 4, "2 heads, 2 queries at the end of 4 keys"),
        (2, 1, 4, "2 heads, 1 query at the end of 4 keys"),
        (8, 1, 2, "8 heads, 1 query at the end of 2 keys"),
        (3, 3, 3, "3 heads, 3 queries and 3 keys"),
        (heads, queries, queries + more, f"{heads} heads, {queries} queries at the end of {queries + more} keys"),
    ]
    return [Case({"n_heads": h, "n_query": q, "n_key": k}, shows) for h, q, k, shows in sizes]


def _published(n_heads):
    """Compute the slopes as the code of Press et al. (2022) does if n_heads is not a power of 2."""

    def of_a_power_of_two(n):
        return 2.0 ** (-8 * torch.arange(1, n + 1) / n)

    below = 2 ** math.floor(math.log2(n_heads))
    return torch.cat([of_a_power_of_two(below), of_a_power_of_two(2 * below)[0::2][: n_heads - below]])


def same_row(shift):
    """Return the step that replaces the negative distances with the key positions minus ``shift(n_key)``."""

    def bias(slopes_in_front, keys, penalties, n_key):
        return (slopes_in_front * (keys - shift(n_key))).expand(penalties.shape)

    return bias


MISTAKES = [
    Mistake(
        "hides_the_future",
        STEPS.but(bias=lambda bias, offsets: bias.masked_fill(offsets < 0, -torch.inf)),
        summary="you also set the bias of keys after the query to −∞",
        message=(
            "{summary}, so the bias doesn't work in models that attend in both directions. Hiding keys is the mask's "
            "job. What should the bias of a later key be?"
        ),
        hints=["With 2 queries and 2 keys, how far is query 0 from key 1? What should that entry be?"],
    ),
    Mistake(
        "exponents_from_one_to_eight",
        STEPS.but(exponents=lambda n_heads: torch.linspace(1, 8, n_heads)),
        summary="your exponents go from 1 to 8 for any number of heads",
        message=(
            "Your first slope is 1/2 and your last 1/256, for any number of heads. With 2 heads, the slopes should be "
            "1/16 and 1/256. Which exponent does the formula give the first of 2 heads?"
        ),
        hints=["With 4 heads, the exponents should be −2, −4, −6 and −8. Which exponents do you use?"],
    ),
    Mistake(
        "slopes_for_powers_of_two",
        STEPS.but(slopes=_published),
        summary="you combine the slopes of two sequences if the number of heads isn't a power of 2",
        message=(
            "Your slopes are right if the number of heads is a power of 2. For other numbers of heads, you combine two "
            "sequences of slopes, as the published ALiBi code does. In this exercise, use the formula 2^(−8h/n_heads) "
            "for every number of heads."
        ),
        hints=["With 3 heads, which exponents do you use? Which exponents does the formula give?"],
    ),
    Mistake(
        "the_same_row_for_all_queries",
        *[STEPS.but(bias=same_row(shift)) for shift in (lambda n_key: n_key, lambda n_key: n_key - 1, lambda n_key: 0)],
        summary="you give every query the same row, which grows by one slope from key to key",
        message=(
            "{summary}, as in BLOOM's code. After a causal mask and the softmax, the weights are the same. Here, the "
            "bias is minus slope times distance, so it should be 0 where a key is at the query's own position."
        ),
        hints=[
            "With 2 queries and 2 keys, how far is query 0 from key 0, and query 1 from key 1? What are your entries?"
        ],
    ),
]


EXERCISE = Exercise(
    reference=alibi_bias,
    steps=STEPS,
    cases=alibi_bias_cases,
    points=2,
    verified="Each head has its own slope, and a single query lines up with the last key.",
    hints=[
        "Take 2 queries at the end of 4 keys. At which positions are the queries, and how far is each query from every "
        "key?",
        "The last query lines up with the last key, so the positions of the queries are `torch.arange(n_key - "
        "n_query, n_key)`. Make them a column with `[:, None]`, subtract the positions of the keys, and take "
        "`.abs()`: distances of shape (n_query, n_key).",
        "The slopes are `2.0 ** (-8 * h / n_heads)` for h = `torch.arange(1, n_heads + 1)`. Add two dimensions, "
        "`slopes[:, None, None]`, and multiply their negative by the distances.",
    ],
    messages={
        "shifted_heads: § - 1": Wording(
            "You number the heads from 0: with 2 heads, your slopes are 1 and 1/16 instead of 1/16 and 1/256. Which "
            "number h does the first head have in the formula?",
            summary="you number the heads from 0 instead of 1",
            hints=["With 2 heads, what is 2^(−8h/n_heads) for h = 1 and h = 2?"],
        ),
        "call_left_out_distances": Wording(
            "{summary}, so the keys on one side of the query get a *positive* bias, which grows with the distance. "
            "Which function drops the sign of an offset?",
            summary="you don't take the absolute values of the offsets",
            hints=["With 2 queries and 2 keys, which of your entries are positive?"],
        ),
        "part_left_out_exponents: 8 * heads": Wording(
            "{summary}: with 2 heads, your slopes are 1/256 and 1/65536 instead of 1/16 and 1/256. Which exponent does "
            "the last head have in the formula?",
            summary="you don't divide the exponents by `n_heads`",
            hints=["With 2 heads, what is 8h/n_heads for h = 1 and h = 2?"],
        ),
        "sign_slopes": Wording(
            "{summary}, so your slopes are larger than 1 and grow from head to head. Which sign does the exponent have "
            "in 2^(−8h/n_heads)?",
            summary="you leave out the minus sign in the exponent of the slopes",
            hints=["With 2 heads, the slopes should be 1/16 and 1/256. What are yours?"],
        ),
        "sign_bias": Wording(
            "{summary}, so *distant* keys get more weight instead of less. Which sign does slope · distance have in "
            "the formula?",
            summary="your bias has the wrong sign",
            hints=["Should the bias make the scores of distant keys larger or smaller?"],
        ),
        "left_out_exponents": (
            Wording(
                "Your slopes are 1/2, 1/4, 1/8, … for any number of heads, which is right only for 8 heads. With 2 "
                "heads, they should be 1/16 and 1/256. Where does the formula divide by `n_heads`?",
                summary="your slopes are 1/2, 1/4, 1/8, … for any number of heads",
                hints=["With 2 heads, which exponents does the formula give?"],
            )
        ),
    },
    mistakes=[*MISTAKES, *position_mistakes(STEPS)],
)
