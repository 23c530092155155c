"""What goes wrong in attention by direction alone, once the cosines are there."""

import torch
from torch.nn.functional import normalize

from transformer_lab.course.exercise import Mistake
from transformer_lab.course.exercises.shared import old_mistakes as attention_mistakes


def _cosines(queries, keys):
    return normalize(queries, dim=-1) @ normalize(keys, dim=-1).mT


def multiplies_by_the_temperature(queries, keys, values, temperature):
    return torch.softmax(_cosines(queries, keys) * temperature, dim=-1) @ values


def forgets_the_temperature(queries, keys, values, temperature):
    return torch.softmax(_cosines(queries, keys), dim=-1) @ values


def temperature_after_the_softmax(queries, keys, values, temperature):
    return torch.softmax(_cosines(queries, keys), dim=-1) @ values / temperature


def divides_by_the_root_too(queries, keys, values, temperature):
    return torch.softmax(_cosines(queries, keys) / (temperature * queries.shape[-1] ** 0.5), dim=-1) @ values


def normalises_the_values_too(queries, keys, values, temperature):
    return torch.softmax(_cosines(queries, keys) / temperature, dim=-1) @ normalize(values, dim=-1)


def cosine_softmax_over_queries(queries, keys, values, temperature):
    return torch.softmax(_cosines(queries, keys) / temperature, dim=-2) @ values


def cosine_axis_from_the_front(queries, keys, values, temperature):
    return torch.softmax(_cosines(queries, keys) / temperature, dim=1) @ values


def only_the_weights(queries, keys, values, temperature):
    return torch.softmax(_cosines(queries, keys) / temperature, dim=-1)


MISTAKES = [
    Mistake(
        "multiplies_by_the_temperature",
        [multiplies_by_the_temperature],
        says=(
            "A *high* temperature makes the weights sharp: the scores are multiplied by it. It should be the other way "
            "round."
        ),
        hints=[
            "Hot means blurred, cold means sharp.",
            "At temperature → 0 the lookup should become hard.",
            "Divide by the temperature.",
        ],
    ),
    Mistake(
        "forgets_the_temperature",
        [forgets_the_temperature],
        says=(
            "The temperature is not used. Cosines lie between -1 and 1, so without it no key can ever get more than e² "
            "times the weight of another."
        ),
        hints=[
            "Does the output change with `temperature`?",
            "What can make the gap between two cosines larger?",
            "Divide the cosines by the temperature.",
        ],
    ),
    Mistake(
        "temperature_after_the_softmax",
        [temperature_after_the_softmax],
        says=(
            "The output as a whole is divided by the temperature: the weights are as blurred as before, and no longer add "
            "up to 1. Look at where the division stands."
        ),
        hints=[
            "With one key, the output must be its value exactly, at any temperature. Is it?",
            "The temperature should change the gaps between the scores, before they become weights.",
            "Divide the cosines by it, then take the softmax.",
        ],
    ),
    Mistake(
        "divides_by_the_root_too",
        [divides_by_the_root_too],
        says="The scores are divided by √d_k as well. Cosines do not grow with the width, so there is nothing to undo.",
        hints=[
            "What are the largest and smallest values a cosine can take, at d_k = 4 and at d_k = 512?",
            "√d_k was there to keep scores from growing with d_k.",
            "Divide by the temperature only.",
        ],
    ),
    Mistake(
        "normalises_the_values_too",
        [normalises_the_values_too],
        says="The values are normalised as well. They are what is handed over, and take no part in the match.",
        hints=[
            "With one key, the output must be its value exactly. Is it?",
            "Which vectors does the cosine compare?",
            "Leave the values as they are.",
        ],
    ),
    attention_mistakes.softmax_over_the_queries(cosine_softmax_over_queries),
    attention_mistakes.axis_from_the_front(cosine_axis_from_the_front),
    attention_mistakes.only_the_weights(only_the_weights),
]
