"""Lower each score by the distance of its key."""

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_lab.course.exercise import Exercise, Mistake
from transformer_lab.course.exercises.shared.draw_cases import generator
from transformer_lab.course.running.case import Case


def alibi_bias(n_heads: int, n_query: int, n_key: int) -> Float[Tensor, "n_heads n_query n_key"]:
    """Give −slope · distance; head h = 1 … n_heads has slope 2^(−8h/n_heads); the last query is the last key's."""
    slopes = 2.0 ** (-8 * torch.arange(1, n_heads + 1) / n_heads)
    queries = torch.arange(n_key - n_query, n_key)
    distances = (queries[:, None] - torch.arange(n_key)).abs()
    return -slopes[:, None, None] * distances


def alibi_bias_cases(seed: int) -> list[Case]:
    rng = generator(seed)
    more = int(torch.randint(2, 30, (), generator=rng))
    sizes = [
        (8, 3, 3, "8 heads, 3 queries that are the 3 keys"),
        (4, 3, 3, "4 heads, 3 queries that are the 3 keys"),
        (2, 2, 5, "2 heads, 2 queries at the end of 5 keys"),
        (3, 1, 4, "3 heads, the newest query and 4 keys"),
        (5, 31, 31 + more, f"5 heads, 31 queries at the end of {31 + more} keys"),
    ]
    return [Case({"n_heads": h, "n_query": q, "n_key": k}, shows) for h, q, k, shows in sizes]


def _slopes(n_heads, first=1):
    return 2.0 ** (-8 * torch.arange(first, n_heads + first) / n_heads)


def _distances(n_query, n_key):
    return (torch.arange(n_key - n_query, n_key)[:, None] - torch.arange(n_key)).abs()


def _bias(slopes, distances):
    return -slopes[:, None, None] * distances


def raises_what_is_far(n_heads, n_query, n_key):
    return -alibi_bias(n_heads, n_query, n_key)


def first_query_at_the_first_key(n_heads, n_query, n_key):
    return _bias(_slopes(n_heads), (torch.arange(n_query)[:, None] - torch.arange(n_key)).abs())


def raises_the_future(n_heads, n_query, n_key):
    distances = torch.arange(n_key - n_query, n_key)[:, None] - torch.arange(n_key)
    return _bias(_slopes(n_heads), distances)


def ignores_the_future(n_heads, n_query, n_key):
    distances = torch.arange(n_key - n_query, n_key)[:, None] - torch.arange(n_key)
    return _bias(_slopes(n_heads), distances.clamp(min=0))


def hides_the_future(n_heads, n_query, n_key):
    hidden = torch.ones(n_query, n_key, dtype=torch.bool).triu(n_key - n_query + 1)
    return alibi_bias(n_heads, n_query, n_key).masked_fill(hidden, -torch.inf)


def slopes_from_one(n_heads, n_query, n_key):
    return _bias(_slopes(n_heads, first=0), _distances(n_query, n_key))


def slopes_of_eight_heads(n_heads, n_query, n_key):
    return _bias(2.0 ** -torch.arange(1.0, n_heads + 1), _distances(n_query, n_key))


def gentle_heads_first(n_heads, n_query, n_key):
    return alibi_bias(n_heads, n_query, n_key).flip(0)


def one_slope_for_all(n_heads, n_query, n_key):
    return _bias(torch.full((n_heads,), 2.0 ** (-8 / n_heads)), _distances(n_query, n_key))


def no_slopes(n_heads, n_query, n_key):
    return _bias(torch.ones(n_heads), _distances(n_query, n_key))


def slopes_in_even_steps(n_heads, n_query, n_key):
    return _bias(torch.arange(1, n_heads + 1) / n_heads, _distances(n_query, n_key))


def even_steps_for_want_of_brackets(n_heads, n_query, n_key):
    return _bias(2.0**-8 * torch.arange(1, n_heads + 1) / n_heads, _distances(n_query, n_key))


def slopes_without_axes(n_heads, n_query, n_key):
    return -_slopes(n_heads) * _distances(n_query, n_key)


def slopes_with_one_axis(n_heads, n_query, n_key):
    return -_slopes(n_heads)[:, None] * _distances(n_query, n_key)


def slopes_that_grow(n_heads, n_query, n_key):
    return _bias(1 / _slopes(n_heads), _distances(n_query, n_key))


def slopes_without_the_eight(n_heads, n_query, n_key):
    return _bias(2.0 ** (-torch.arange(1, n_heads + 1) / n_heads), _distances(n_query, n_key))


def raises_the_past(n_heads, n_query, n_key):
    return _bias(_slopes(n_heads), torch.arange(n_key) - torch.arange(n_key - n_query, n_key)[:, None])


def queries_and_keys_exchanged(n_heads, n_query, n_key):
    return alibi_bias(n_heads, n_query, n_key).mT


ALIBI_BIAS = Exercise(
    reference=alibi_bias,
    cases=alibi_bias_cases,
    points=2,
    verified="Each head forgets distance at its own pace, and a query that comes alone stands at the end. Next: all "
    "schemes side by side.",
    hints=[
        "Find the distances first: a table (n_query, n_key). The keys stand at 0 … n_key − 1. Where do the queries "
        "stand, if the last of them is the last key?",
        "`torch.arange(n_key - n_query, n_key)` are the queries' positions. Make them a column with `[:, None]`, "
        "subtract the keys' positions, and take `.abs()`.",
        "The slopes are `2.0 ** (-8 * h / n_heads)` for h = `torch.arange(1, n_heads + 1)`. Give them two more axes, "
        "`slopes[:, None, None]`, and multiply minus them by the distances.",
    ],
    mistakes=[
        Mistake(
            "raises_what_is_far",
            [raises_what_is_far],
            says="Far keys are raised instead of lowered. Look at the sign.",
            hints=[
                "What is added to the score of a key that is far away: something positive or negative?",
                "The nearest key, at distance 0, should have the largest bias.",
                "The bias is *minus* slope times distance.",
            ],
        ),
        Mistake(
            "first_query_at_the_first_key",
            [first_query_at_the_first_key],
            says=(
                "The first query is put at the first key. A query that comes alone, as when a text is written word by "
                "word, is the newest: it stands at the *last* key."
            ),
            hints=[
                "With one query and 4 keys, which key is at distance 0?",
                "The queries' positions end at n_key − 1. Where do they begin?",
                "They are `torch.arange(n_key - n_query, n_key)`.",
            ],
        ),
        Mistake(
            "raises_the_future",
            [raises_the_future, raises_the_past],
            says="Keys on one side of the query get a positive bias: their distance counts as negative.",
            hints=[
                "Is the distance from 2 to 5 different from that from 5 to 2?",
                "Print the differences: some are negative.",
                "Take `.abs()` of them.",
            ],
        ),
        Mistake(
            "ignores_the_future",
            [ignores_the_future],
            says=(
                "Keys after the query get no bias. Distance counts in both directions here; what may be seen at all is for "
                "a mask to say."
            ),
            hints=[
                "Is the distance from 2 to 5 different from that from 5 to 2?",
                "`clamp` throws the negative differences away.",
                "Take `.abs()` of the differences instead.",
            ],
        ),
        Mistake(
            "hides_the_future",
            [hides_the_future],
            says=(
                "Keys after the query are hidden as well. That is a mask's business: the bias alone should work for models "
                "that look both ways, too."
            ),
            hints=[
                "Which entries are minus infinity?",
                "A bias and a mask are two things; lesson 04 has the mask.",
                "Leave the masking out.",
            ],
        ),
        Mistake(
            "slopes_from_one",
            [slopes_from_one],
            says="The slopes begin at 1 and end too early: h counts from 0 here, and it should count from 1.",
            hints=[
                "With 8 heads the slopes are 1/2, 1/4, … 1/256.",
                "What does `torch.arange(n_heads)` begin with?",
                "h runs from 1 to n_heads.",
            ],
        ),
        Mistake(
            "slopes_of_eight_heads",
            [slopes_of_eight_heads],
            says="The slopes are 1/2, 1/4, 1/8, … however many heads there are. That is right for 8 heads only.",
            hints=[
                "Whatever the number of heads, the last slope should be 2⁻⁸.",
                "What is 8h/n_heads if n_heads is 8? And if it is 4?",
                "The exponent is −8h/n_heads.",
            ],
        ),
        Mistake(
            "gentle_heads_first",
            [gentle_heads_first],
            says="The order of the heads is turned round: the first should forget fastest.",
            hints=[
                "Which head has the largest slope?",
                "For h = 1 the slope is 2^(−8/n_heads), the largest of all.",
                "Let h run from 1 to n_heads.",
            ],
        ),
        Mistake(
            "one_slope_for_all",
            [one_slope_for_all],
            says="All heads have the same slope. Each should forget at its own pace.",
            hints=[
                "Compare the bias of head 0 with that of head 1.",
                "The exponent has an h in it.",
                "h is `torch.arange(1, n_heads + 1)`: a slope for each head.",
            ],
        ),
        Mistake(
            "no_slopes",
            [no_slopes],
            says="There are distances, but no slopes: every step costs 1 in every head.",
            hints=[
                "What distinguishes the heads?",
                "Head h has the slope 2^(−8h/n_heads).",
                "Multiply the distances by `slopes[:, None, None]`.",
            ],
        ),
        Mistake(
            "slopes_in_even_steps",
            [slopes_in_even_steps, even_steps_for_want_of_brackets],
            says="The slopes grow in even steps. They should fall by the same *factor* from head to head.",
            hints=[
                "With 8 heads the slopes are 1/2, 1/4, … 1/256.",
                "It is a power of 2 whose exponent goes in even steps: all of −8h/n_heads belongs in the exponent.",
                "The slope of head h is 2^(−8h/n_heads).",
            ],
        ),
        Mistake(
            "slopes_that_grow",
            [slopes_that_grow],
            says="The slopes are above 1, and grow from head to head. Look at the sign of the exponent.",
            hints=[
                "With 8 heads the slopes are 1/2, 1/4, … 1/256.",
                "2 to the power of −1 is a half.",
                "The slope of head h is 2^(−8h/n_heads).",
            ],
        ),
        Mistake(
            "slopes_without_the_eight",
            [slopes_without_the_eight],
            says="The last slope is 1/2, whatever the number of heads: so no head forgets slowly. Look at the exponent.",
            hints=[
                "With 8 heads the slopes are 1/2, 1/4, … 1/256.",
                "The last slope should be 2⁻⁸. What is the last exponent?",
                "The exponent is −8h/n_heads.",
            ],
        ),
        Mistake(
            "slopes_without_axes",
            [slopes_without_axes, slopes_with_one_axis],
            says=(
                "Each slope should meet the whole table of distances, but shapes are matched from the right, where the "
                "keys are. A crash, or, where the numbers happen to fit, nonsense."
            ),
            hints=[
                "Which shapes have the slopes and the distances?",
                "To meet a table of (n_query, n_key), the slopes need the shape (n_heads, 1, 1).",
                "`slopes[:, None, None]`.",
            ],
        ),
        Mistake(
            "queries_and_keys_exchanged",
            [queries_and_keys_exchanged],
            says="Queries and keys have changed places. Look at the order of the axes.",
            hints=[
                "What shape is asked for?",
                "Queries go down, keys across: the queries' positions need the extra axis.",
                "`[:, None]` belongs to the queries.",
            ],
        ),
    ],
)
