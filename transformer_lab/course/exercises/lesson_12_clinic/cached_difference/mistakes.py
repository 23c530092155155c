"""What goes wrong when a model is run with a cache and without."""

from transformer_lab.course.exercise import Mistake
from transformer_lab.course.exercises.lesson_12_clinic.cached_difference.answer import STEPS
from transformer_lab.course.exercises.shared.difference_mistakes import of_the_largest_difference
from transformer_lab.course.exercises.shared.mode_mistakes import of_the_mode

MISTAKES = [
    Mistake(
        "a_new_cache_for_every_token",
        [STEPS.but(kept=lambda: lambda cache, new_cache: new_cache())],
        does="every token gets an empty cache",
        says=(
            "Every token gets an empty cache, and so sees nothing before it. Even a healthy model differs then. Look "
            "at where the cache is made."
        ),
        hints=[
            "How many tokens are in the cache at the third call?",
            "The cache is what one call leaves to the next.",
            "`cache = model.new_cache()` once, before the loop.",
        ],
    ),
    *of_the_largest_difference(STEPS),
    *of_the_mode(STEPS, "largest"),
]
