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
        hints=["What is added to the score of a key that is far away: something positive or negative?"],
    ),
    Mistake(
        "signed_distances",
        STEPS.but(distances=lambda offsets: offsets),
        STEPS.but(distances=lambda offsets: -offsets),
        does="distances keep their sign, so that those on one side are negative",
        says="Keys on one side of the query get a positive bias: their distance counts as negative.",
        hints=["Is the distance from 2 to 5 different from that from 5 to 2?"],
    ),
    Mistake(
        "ignores_the_past",
        STEPS.but(distances=lambda offsets: (-offsets).clamp(min=0)),
        does="keys before the query get no bias",
        says="{does}. Distance counts in both directions here.",
        hints=["Is the distance from 2 to 5 different from that from 5 to 2?"],
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
        hints=["With 2 queries and 5 keys, which entries does the triangle leave?"],
    ),
    Mistake(
        "hides_the_future",
        STEPS.but(bias=lambda bias, offsets: bias.masked_fill(offsets < 0, -torch.inf)),
        STEPS.but(bias=lambda bias, offsets: bias.masked_fill(offsets < 0, -1e9)),
        does="keys after the query are hidden as well",
        says="{does}. That is a mask's business: the bias alone should work for models that look both ways, too.",
        hints=["Which entries are minus infinity, or nearly so?"],
    ),
    Mistake(
        "distances_not_in_proportion",
        STEPS.but(distances=lambda distances: distances.sqrt()),
        STEPS.but(distances=lambda distances: distances.float().log1p()),
        STEPS.but(distances=lambda distances, n_key: distances / n_key),
        does="the distances are made smaller",
        says="The distances are made smaller before they are multiplied by the slopes. They should go in as they are.",
        hints=["By how much should a key at distance 2 be lowered, compared with one at distance 1?"],
    ),
    Mistake(
        "distances_from_one",
        STEPS.but(distances=lambda distances: distances + 1),
        does="distances are counted from 1",
    ),
    Mistake(
        "queries_off_by_one",
        STEPS.but(queries=lambda queries: queries + 1),
        STEPS.but(queries=lambda queries: queries - 1),
        does="the queries stand one position too far on, or too far back",
    ),
    Mistake(
        "slopes_to_the_power_of_the_distance",
        STEPS.but(penalties=lambda slopes_in_front, distances: slopes_in_front**distances),
        does="the slopes are raised to the distances",
        says="The slopes are raised to the power of the distances. The bias should fall in a straight line.",
        hints=["What is the bias of a key at distance 0, and what should it be?"],
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
        hints=["Which shapes have the slopes and the distances?"],
    ),
    Mistake(
        "heads_last",
        STEPS.but(penalties=lambda slopes, distances: distances[:, :, None] * slopes),
        STEPS.but(penalties=lambda slopes, distances: distances[:, None, :] * slopes[:, None]),
        does="the heads are not the first axis",
        says="{does}; they should be. Look at where each new axis stands.",
        hints=["What shape is asked for?"],
    ),
    Mistake(
        "queries_and_keys_exchanged",
        STEPS.but(bias=lambda bias: bias.mT),
        does="queries and keys have changed places",
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
