"""What goes wrong in an ALiBi bias with the distances, and with the axes and the sign at the end."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_05_positions.alibi_bias.answer import STEPS
from transformer_course.exercises.shared.final_result_mistakes import in_float64, of_the_result

MISTAKES = [
    Mistake(
        "raises_what_is_far",
        STEPS.but(bias=lambda penalties: penalties),
        does="the minus in front is missing",
        says="Far keys are raised instead of lowered. Look at the sign.",
        hints=[
            "What is added to the score of a key that is far away: something positive or negative?",
            "The nearest key, at distance 0, should have the largest bias.",
            "The bias is *minus* slope times distance.",
        ],
    ),
    Mistake(
        "signed_distances",
        STEPS.but(distances=lambda offsets: offsets),
        STEPS.but(distances=lambda offsets: -offsets),
        does="distances keep their sign, so that those on one side are negative",
        says="Keys on one side of the query get a positive bias: their distance counts as negative.",
        hints=[
            "Is the distance from 2 to 5 different from that from 5 to 2?",
            "Print the differences: some are negative.",
            "Take `.abs()` of them.",
        ],
    ),
    Mistake(
        "ignores_the_future",
        STEPS.but(distances=lambda offsets: offsets.clamp(min=0)),
        does="keys after the query get no bias",
        says="{does}. Distance counts in both directions here; what may be seen at all is for a mask to say.",
        hints=[
            "Is the distance from 2 to 5 different from that from 5 to 2?",
            "Negative differences are thrown away, by `clamp` or by a triangle.",
            "Take `.abs()` of the differences instead.",
        ],
    ),
    Mistake(
        "ignores_the_past",
        STEPS.but(distances=lambda offsets: (-offsets).clamp(min=0)),
        does="keys before the query get no bias",
        says="{does}. Distance counts in both directions here.",
        hints=[
            "Is the distance from 2 to 5 different from that from 5 to 2?",
            "Half of the differences are thrown away, by `clamp` or by a triangle.",
            "Take `.abs()` of the differences instead.",
        ],
    ),
    Mistake(
        "triangle_at_the_first_key",
        STEPS.but(distances=lambda distances: distances.tril()),
        STEPS.but(bias=lambda bias: bias.masked_fill(torch.ones(bias.shape[1:], dtype=torch.bool).triu(1), -torch.inf)),
        does="keys are left out by a triangle that begins at the first query and the first key",
        says=(
            "Keys are left out by a triangle, and it begins at the first key. Distance counts in both directions "
            "here; what may be seen at all is for a mask to say."
        ),
        hints=[
            "With 2 queries and 5 keys, which entries does the triangle leave?",
            "A bias and a mask are two things; lesson 04 has the mask.",
            "Leave the triangle out, and take `.abs()` of the differences.",
        ],
    ),
    Mistake(
        "hides_the_future",
        STEPS.but(bias=lambda bias, offsets: bias.masked_fill(offsets < 0, -torch.inf)),
        STEPS.but(bias=lambda bias, offsets: bias.masked_fill(offsets < 0, -1e9)),
        does="keys after the query are hidden as well",
        says="{does}. That is a mask's business: the bias alone should work for models that look both ways, too.",
        hints=[
            "Which entries are minus infinity, or nearly so?",
            "A bias and a mask are two things; lesson 04 has the mask.",
            "Leave the masking out.",
        ],
    ),
    Mistake(
        "squared_distances",
        STEPS.but(distances=lambda offsets: offsets**2),
        does="the distances are squared",
        says="{does}: a key twice as far is lowered four times as much. The bias should fall in a straight line.",
        hints=[
            "What is the distance from 2 to 5?",
            "A square drops the sign, and changes the number as well.",
            "Take `.abs()` of the differences instead.",
        ],
    ),
    Mistake(
        "distances_not_in_proportion",
        STEPS.but(distances=lambda distances: distances.sqrt()),
        STEPS.but(distances=lambda distances: distances.float().log1p()),
        STEPS.but(distances=lambda distances, n_key: distances / n_key),
        does="the distances are made smaller",
        says="The distances are made smaller before they are multiplied by the slopes. They should go in as they are.",
        hints=[
            "By how much should a key at distance 2 be lowered, compared with one at distance 1?",
            "The formula takes |m − n| itself.",
            "Multiply the slopes by the absolute differences, and by nothing else.",
        ],
    ),
    Mistake(
        "distances_from_one",
        STEPS.but(distances=lambda distances: distances + 1),
        does="distances are counted from 1",
        says="Even the key at the query's own position is lowered: {does}. Look at what is added.",
        hints=[
            "What is the distance from 5 to 5?",
            "The bias of a key at the query's own position is 0.",
            "Leave the 1 out.",
        ],
    ),
    Mistake(
        "queries_off_by_one",
        STEPS.but(queries=lambda queries: queries + 1),
        STEPS.but(queries=lambda queries: queries - 1),
        does="the queries stand one position too far on, or too far back",
        says=(
            "The last query does not stand at the last key, but one position beside it. Look at where the "
            "queries begin."
        ),
        hints=[
            "With 2 queries and 5 keys, at which positions are the queries?",
            "Positions are counted from 0: the last key is at n_key − 1.",
        ],
    ),
    Mistake(
        "slopes_to_the_power_of_the_distance",
        STEPS.but(penalties=lambda slopes_in_front, distances: slopes_in_front**distances),
        does="the slopes are raised to the distances",
        says="The slopes are raised to the power of the distances. The bias should fall in a straight line.",
        hints=[
            "What is the bias of a key at distance 0, and what should it be?",
            "By how much should a key at distance 2 be lowered, compared with one at distance 1?",
            "Multiply the slopes by the distances.",
        ],
    ),
    Mistake(
        "weights_in_place_of_a_bias",
        STEPS.but(bias=lambda bias: bias.softmax(-1)),
        STEPS.but(bias=lambda bias: bias.exp()),
        does="an exponential or a softmax is taken at the end",
        says="{does}. The bias is added to the scores *before* the softmax of attention.",
        hints=[
            "What is the bias of a key at distance 0, and what should it be?",
            "In attention, the softmax comes after the sum of scores and bias.",
            "Return minus slope times distance, as it is.",
        ],
    ),
    Mistake(
        "slopes_without_axes",
        STEPS.but(slopes_in_front=lambda slopes: slopes),
        STEPS.but(slopes_in_front=lambda slopes: slopes[:, None]),
        does="the slopes have too few axes to meet the whole table of distances",
        says=(
            "Each slope should meet the whole table of distances, but shapes are matched from the right, where the "
            "keys are. A crash, or, where the numbers happen to fit, nonsense."
        ),
        hints=[
            "Which shapes have the slopes and the distances?",
            "To meet a table of (n_query, n_key), the slopes need the shape (n_heads, 1, 1).",
        ],
    ),
    Mistake(
        "heads_last",
        STEPS.but(penalties=lambda slopes, distances: distances[:, :, None] * slopes),
        STEPS.but(penalties=lambda slopes, distances: distances[:, None, :] * slopes[:, None]),
        does="the heads are not the first axis",
        says="{does}; they should be. Look at where each new axis stands.",
        hints=[
            "What shape is asked for?",
            "Heads, queries, keys: in this order.",
            "The slopes get two axes *behind* theirs: `slopes[:, None, None]`.",
        ],
    ),
    Mistake(
        "heads_added_up",
        STEPS.but(bias=lambda bias: bias.sum(0)),
        STEPS.but(bias=lambda bias: bias.mean(0)),
        STEPS.but(bias=lambda bias: bias[0]),
        does="there is one table in place of one for each head",
        says="{does}. The heads should stay apart, on the first axis.",
        hints=[
            "What shape is asked for?",
            "Each head has a slope, and so a table, of its own.",
            "Multiply `slopes[:, None, None]` by the distances, and add nothing up.",
        ],
    ),
    Mistake(
        "queries_and_keys_exchanged",
        STEPS.but(bias=lambda bias: bias.mT),
        does="queries and keys have changed places",
        says="{does}. Look at the order of the axes.",
        hints=[
            "What shape is asked for?",
            "Queries go down, keys across: the queries' positions need the extra axis.",
            "`[:, None]` belongs to the queries.",
        ],
    ),
    in_float64(STEPS),
    *of_the_result(
        STEPS,
        "result_with_another_sign",
        "result_scaled",
        "result_transposed",
        "function_of_the_result",
        "only_the_first_result",
    ),
]
