"""Mistakes in numbering queries and keys, where the last query has the position of the last key."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.steps import InSteps


def position_mistakes(steps: InSteps) -> list[Mistake]:
    """Return the mistakes in computing the offsets.

    Args:
        steps: An answer with the steps ``queries``, ``keys`` and ``offsets``.
    """
    return [
        Mistake(
            "queries_from_the_first_key",
            steps.but(queries=lambda n_query: torch.arange(n_query)),
            summary=("you line up the first query with the first key even if there are more keys than queries"),
            message=(
                "With 1 query and 4 keys, you put the query at position 0 instead of 3. The *last* query should line "
                "up with the last key, as it does when a cache holds the earlier keys."
            ),
            hints=["At which positions are 2 queries that come at the end of 5 keys?"],
        ),
    ]
