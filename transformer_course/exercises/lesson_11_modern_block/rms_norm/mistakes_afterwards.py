"""What goes wrong with the dtype and the weight."""

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_11_modern_block.rms_norm.answer import STEPS
from transformer_course.exercises.shared.final_result_mistakes import of_the_result
from transformer_course.exercises.shared.norm_mistakes import of_the_weight

DTYPE = [
    Mistake(
        "squares_overflow",
        STEPS.but(wide=lambda x: x),
        does="the squares are taken in the dtype of x, and in float16 the square of 256 is infinite",
    ),
    Mistake(
        "stays_in_float32",
        STEPS.but(narrow=lambda normalised: normalised),
        STEPS.but(stretched=lambda narrow, weight: narrow.float() * weight.float()).attempt,
        does="the result is not brought back to the dtype of x",
    ),
    Mistake(
        "always_float16",
        STEPS.but(stretched=lambda stretched: stretched.half()),
        does="the result is brought to float16, whatever the dtype of x",
        hints=["What does `.dtype` say of x, and of the result?"],
    ),
]

WEIGHT = [
    Mistake(
        "no_weight",
        STEPS.but(stretched=lambda narrow: narrow),
        does="the weight has no effect",
    ),
    Mistake(
        "weight_added",
        STEPS.but(stretched=lambda narrow, weight: narrow + weight),
        does="the weight is added",
    ),
    Mistake(
        "one_weight_for_all",
        STEPS.but(weight=lambda weight: weight.mean()),
        STEPS.but(weight=lambda weight: weight[0]),
        does="one number of the weight is used for all features",
    ),
    Mistake(
        "product_with_the_weight",
        STEPS.but(stretched=lambda narrow, weight: narrow @ weight),
        does="`@` adds the features up, where each should be multiplied by its weight",
        says=(
            "One number comes out for each vector: `@` multiplies by the weight and adds up. Each feature should be "
            "multiplied by its own weight and stay by itself. Look at the operator."
        ),
        hints=["Which shape is asked for, and which comes out?"],
    ),
]

MISTAKES = [
    *DTYPE,
    *WEIGHT,
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
    *of_the_result(STEPS, "axes_of_length_1_removed"),
]
