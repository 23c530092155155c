"""What goes wrong with the positions of queries and keys, where the last query is the last key's."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.steps import InSteps


def position_mistakes(steps: InSteps) -> list[Mistake]:
    """Return the mistakes that are made on the way to the offsets.

    Args:
        steps: An answer with the steps ``queries``, ``keys`` and ``offsets``.
    """
    return [
        Mistake(
            "queries_from_the_first_key",
            steps.but(queries=lambda n_query: torch.arange(n_query)),
            summary="the queries begin at the first key, even where there are more keys than queries",
            message=(
                "For as many queries as keys, this is right. With more keys, the queries begin at the first key, but "
                "the last of them should stand at the last key."
            ),
            hints=["With one query and 4 keys, at which position is the query?"],
        ),
    ]
