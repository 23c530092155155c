"""What goes wrong with the dtype and the weight."""

from transformer_course.exercises.lesson_11_modern_block.rms_norm.answer import STEPS
from transformer_course.exercises.shared.norm_mistakes import of_the_weight

MISTAKES = [
    *of_the_weight(
        STEPS,
        "narrow",
        STEPS.but(wide=lambda wide, weight: wide * weight.float(), stretched=lambda narrow: narrow),
        STEPS.but(x=lambda x, weight: x * weight, stretched=lambda narrow: narrow).attempt,
        elsewhere=(
            "Gemma keeps a weight's distance from 1 and adds it back so; here, as in Llama, the weight is the factor "
            "itself."
        ),
    ),
]
