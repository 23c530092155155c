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
    ),
    Mistake(
        "no_bias",
        STEPS.but(shifted=lambda stretched: stretched),
        does="the bias has no effect",
    ),
    Mistake(
        "weight_and_bias_swapped",
        STEPS.but(
            stretched=lambda normalised, bias: normalised * bias,
            shifted=lambda stretched, weight: stretched + weight,
        ),
        does="weight and bias have changed places",
    ),
    Mistake(
        "bias_inside",
        STEPS.but(
            stretched=lambda normalised, weight, bias: (normalised + bias) * weight,
            shifted=lambda stretched: stretched,
        ),
        does="the bias is multiplied by the weight",
        says="{does}, too. Look at the brackets.",
        hints=["With a weight of 2 and a bias of 3, what should 0 become?"],
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
        hints=["With a weight of 2 and a bias of 3, what should 0 become?"],
    ),
    Mistake(
        "bias_divided_too",
        STEPS.but(
            normalised=lambda deviations: deviations,
            shifted=lambda stretched, bias, root: (stretched + bias) / root,
        ),
        does="the bias is divided by the root, too",
        hints=["What should come out for the vector (3, 3, 3, 3), whose deviations are all 0?"],
    ),
    Mistake(
        "bias_subtracted",
        STEPS.but(shifted=lambda stretched, bias: stretched - bias),
        does="the bias is subtracted",
    ),
    Mistake(
        "weight_added",
        STEPS.but(stretched=lambda normalised, weight: normalised + weight),
        does="the weight is added",
    ),
    Mistake(
        "one_weight_for_all",
        STEPS.but(weight=lambda weight: weight.mean()),
        STEPS.but(weight=lambda weight: weight[0]),
        STEPS.but(bias=lambda bias: bias[0]),
        does="one number of weight or bias is used for all features",
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
