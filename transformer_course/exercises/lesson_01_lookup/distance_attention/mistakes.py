"""What goes wrong when keys are weighed by nearness, besides what goes wrong in every attention."""

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_01_lookup.distance_attention.answer import STEPS
from transformer_course.exercises.shared import attention_mistakes

MISTAKES = [
    Mistake(
        "still_dot_products",
        STEPS.but(scores=lambda queries, keys: queries @ keys.mT),
        does="the scores are dot products, without the lengths of the keys",
        says=(
            "The scores still rank the keys by dot products: a key far away in the direction of the query beats one "
            "that lies on top of it. Look at whether the lengths of the keys come in."
        ),
        hints=[
            "Which formula is asked for? Does a difference of query and key occur in the code, or the length of a key?"
        ],
    ),
    Mistake(
        "query_i_with_key_i",
        STEPS.but(differences=lambda queries, keys: queries - keys),
        does="query i is compared with key i only",
        says=(
            "{does}: one number each, or a crash as soon as their numbers differ. Every query has to meet every key. "
            "Look at the shapes that are subtracted."
        ),
        hints=["How many distances are there between 2 queries and 3 keys?"],
    ),
    *attention_mistakes.of_the_softmax(STEPS),
    *attention_mistakes.of_the_mixture(STEPS),
]
