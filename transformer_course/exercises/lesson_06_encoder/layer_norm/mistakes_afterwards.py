"""What goes wrong in what happens to the normalised vectors: with the weight and the bias."""

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_06_encoder.layer_norm.answer import STEPS
from transformer_course.exercises.shared.final_result_mistakes import of_the_result
from transformer_course.exercises.shared.norm_mistakes import of_the_weight

MISTAKES = [
    Mistake(
        "no_weight",
        STEPS.but(stretched=lambda normalised: normalised),
        does="the weight has no effect",
        says="{does}. The normalised vectors are stretched *and* shifted.",
        hints=[
            "Which argument can be changed without changing the result?",
            "Which argument stretches, and which one shifts?",
            "Multiply by the weight, then add the bias.",
        ],
    ),
    Mistake(
        "no_bias",
        STEPS.but(shifted=lambda stretched: stretched),
        does="the bias has no effect",
        says="{does}. The normalised vectors are stretched *and* shifted.",
        hints=[
            "Which argument can be changed without changing the result?",
            "Which argument stretches, and which one shifts?",
            "Multiply by the weight, then add the bias.",
        ],
    ),
    Mistake(
        "neither_weight_nor_bias",
        STEPS.but(stretched=lambda normalised: normalised, shifted=lambda stretched: stretched),
        does="neither weight nor bias has an effect",
        says="{does}. The normalised vectors are stretched *and* shifted. Look for arguments that are not used.",
        hints=[
            "Which arguments can be changed without changing the result?",
            "Which argument stretches, and which one shifts?",
            "Multiply by the weight, then add the bias.",
        ],
    ),
    Mistake(
        "weight_and_bias_swapped",
        STEPS.but(
            stretched=lambda normalised, bias: normalised * bias,
            shifted=lambda stretched, weight: stretched + weight,
        ),
        does="weight and bias have changed places",
        says="{does}.",
        hints=[
            "Which of the two is multiplied by?",
            "With a weight of 1 and a bias of 0 nothing should happen.",
            "The weight multiplies, the bias is added.",
        ],
    ),
    Mistake(
        "bias_inside",
        STEPS.but(
            stretched=lambda normalised, weight, bias: (normalised + bias) * weight,
            shifted=lambda stretched: stretched,
        ),
        does="the bias is multiplied by the weight",
        says="{does}, too. Look at the brackets.",
        hints=[
            "With a weight of 2 and a bias of 3, what should 0 become?",
            "First stretch, then shift.",
            "Add the bias last.",
        ],
    ),
    Mistake(
        "multiplied_by_the_sum",
        STEPS.but(
            stretched=lambda normalised, weight, bias: normalised * (weight + bias),
            shifted=lambda stretched: stretched,
        ),
        does="the sum of weight and bias is multiplied by",
        says=(
            "Weight and bias are added first, and their sum is multiplied by: the bias shifts nothing. Look at the "
            "brackets."
        ),
        hints=[
            "With a weight of 2 and a bias of 3, what should 0 become?",
            "First stretch, then shift.",
            "Multiply by the weight alone, and add the bias last.",
        ],
    ),
    Mistake(
        "bias_divided_too",
        STEPS.but(
            normalised=lambda deviations: deviations,
            shifted=lambda stretched, bias, root: (stretched + bias) / root,
        ),
        does="the bias is divided by the root, too",
        says="{does}. Look at the brackets.",
        hints=[
            "What should come out for the vector (3, 3, 3, 3), whose deviations are all 0?",
            "First normalise, then stretch, then shift.",
            "Add the bias last, outside the fraction.",
        ],
    ),
    Mistake(
        "bias_subtracted",
        STEPS.but(shifted=lambda stretched, bias: stretched - bias),
        does="the bias is subtracted",
        says="{does}. Look at the sign.",
        hints=[
            "What should come out for the vector (3, 3, 3, 3), whose deviations are all 0?",
            "The formula ends with + b.",
            "Add the bias last.",
        ],
    ),
    Mistake(
        "weight_added",
        STEPS.but(stretched=lambda normalised, weight: normalised + weight),
        does="the weight is added",
        says="{does}, so it shifts, where it should stretch. Look at the operator.",
        hints=[
            "With a weight of 2, what should 1 become before the bias is added?",
            "The weight multiplies, the bias is added.",
            "`weight * …`.",
        ],
    ),
    Mistake(
        "one_weight_for_all",
        STEPS.but(weight=lambda weight: weight.mean()),
        STEPS.but(weight=lambda weight: weight[0]),
        STEPS.but(bias=lambda bias: bias[0]),
        does="one number of weight or bias is used for all features",
        says="{does}. Each feature has its own.",
        hints=[
            "Which numbers of weight and bias can be changed without changing the result?",
            "`weight` and `bias` have the shape (d): a number for each feature.",
            "Multiply by the whole weight, and add the whole bias: they line up with the last axis.",
        ],
    ),
    *of_the_weight(
        STEPS,
        "normalised",
        STEPS.but(x=lambda x, weight: weight * x, stretched=lambda normalised: normalised),
        elsewhere=(
            "Some models keep a weight's distance from 1 and add it back so; here the weight is the factor itself."
        ),
        bias=True,
    ),
    *of_the_result(STEPS, "axes_of_length_1_removed"),
]
