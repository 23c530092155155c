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
        says=(
            "Right in float32. In float16, whose largest number is 65,504, the squares of large numbers are infinite, "
            "and x divided by infinity is 0. Look at the dtype in which the squares are taken."
        ),
        hints=[
            "What is the square of 300 in float16?",
            "A tensor in float16 can be turned to float32 before it is squared, and the result back at the end.",
            "`wide = x.float()` at the beginning, `.to(x.dtype)` at the end.",
        ],
    ),
    Mistake(
        "stays_in_float32",
        STEPS.but(narrow=lambda normalised: normalised),
        STEPS.but(stretched=lambda narrow, weight: narrow.float() * weight.float()).attempt,
        does="the result is not brought back to the dtype of x",
        says=(
            "For x in float16 the result comes in float32: it is not brought back to the dtype of x. The next layer "
            "would refuse it. Look at the dtype of what is returned."
        ),
        hints=[
            "What does `.dtype` say of x, and of the result?",
            "What was turned to float32 stays in float32 until somebody turns it back.",
        ],
    ),
    Mistake(
        "always_float16",
        STEPS.but(stretched=lambda stretched: stretched.half()),
        does="the result is brought to float16, whatever the dtype of x",
        says="{does}. Look at the dtype of what is returned.",
        hints=[
            "What does `.dtype` say of x, and of the result?",
            "The result has the dtype of x, which may be any.",
            "`.to(x.dtype)`.",
        ],
    ),
]

WEIGHT = [
    Mistake(
        "no_weight",
        STEPS.but(stretched=lambda narrow: narrow),
        does="the weight has no effect",
        says="{does}. The normalised vectors are stretched, each feature by its own number.",
        hints=[
            "Which argument can be changed without changing the result?",
            "`weight` has the shape (d): a number for each feature.",
            "Multiply by the weight at the end.",
        ],
    ),
    Mistake(
        "weight_added",
        STEPS.but(stretched=lambda narrow, weight: narrow + weight),
        does="the weight is added",
        says="{does}, so it shifts, where it should stretch. Look at the operator.",
        hints=[
            "With a weight of 2, what should a feature of 0 become?",
            "A weight multiplies. RMSNorm has no bias to add.",
            "Multiply by the weight at the end.",
        ],
    ),
    Mistake(
        "one_weight_for_all",
        STEPS.but(weight=lambda weight: weight.mean()),
        STEPS.but(weight=lambda weight: weight[0]),
        does="one number of the weight is used for all features",
        says="{does}. Each feature has its own.",
        hints=[
            "Which numbers of the weight can be changed without changing the result?",
            "`weight` has the shape (d): a number for each feature.",
            "Multiply by the whole weight: it lines up with the last axis.",
        ],
    ),
    Mistake(
        "product_with_the_weight",
        STEPS.but(stretched=lambda narrow, weight: narrow @ weight),
        does="`@` adds the features up, where each should be multiplied by its weight",
        says=(
            "One number comes out for each vector: `@` multiplies by the weight and adds up. Each feature should be "
            "multiplied by its own weight and stay by itself. Look at the operator."
        ),
        hints=[
            "Which shape is asked for, and which comes out?",
            "`*` multiplies number by number, `@` adds the products up.",
            "`weight * …`.",
        ],
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
