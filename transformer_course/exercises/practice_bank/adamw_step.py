"""A step of Adam with decoupled weight decay, for a single parameter tensor.

``zero_step`` in lesson 13 shards the same optimizer among workers, with fixed betas and without weight decay.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared.draw_cases import generator, normal, uniform
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def adamw_step(
    parameter: Float[Tensor, "*shape"],
    gradient: Float[Tensor, "*shape"],
    mean: Float[Tensor, "*shape"],
    mean_square: Float[Tensor, "*shape"],
    step: int,
    lr: float,
    betas: tuple[float, float],
    eps: float,
    weight_decay: float,
) -> tuple[Float[Tensor, "*shape"], Float[Tensor, "*shape"], Float[Tensor, "*shape"]]:
    """Return the parameter after step number `step` (from 1) of AdamW, and the two new running means."""
    mean = betas[0] * mean + (1 - betas[0]) * gradient
    mean_square = betas[1] * mean_square + (1 - betas[1]) * gradient**2
    unbiased, unbiased_square = mean / (1 - betas[0] ** step), mean_square / (1 - betas[1] ** step)
    update = unbiased / (unbiased_square.sqrt() + eps)
    return parameter - lr * update - lr * weight_decay * parameter, mean, mean_square


def new_mean(mean, gradient, betas):
    """update the running mean of the gradient → the new running mean: β₁ · old + (1 − β₁) · gradient"""
    return betas[0] * mean + (1 - betas[0]) * gradient


def new_mean_square(mean_square, gradient, betas):
    """update the running mean of the squared gradient → the new mean square: β₂ · old + (1 − β₂) · gradient²"""
    return betas[1] * mean_square + (1 - betas[1]) * gradient**2


def unbiased(new_mean, betas, step):
    """correct the mean for its start at 0 → the corrected mean: divided by 1 − β₁ˢᵗᵉᵖ"""
    return new_mean / (1 - betas[0] ** step)


def unbiased_square(new_mean_square, betas, step):
    """correct the mean square for its start at 0 → the corrected mean square: divided by 1 − β₂ˢᵗᵉᵖ"""
    return new_mean_square / (1 - betas[1] ** step)


def denominator(unbiased_square, eps):
    """take the square root and add eps → the denominator: √(corrected mean square) + ε"""
    return unbiased_square.sqrt() + eps


def update(unbiased, denominator):
    """divide the corrected mean by the denominator → the update: corrected mean / denominator"""
    return unbiased / denominator


def decay(parameter, lr, weight_decay):
    """multiply the parameter by the learning rate and the weight decay → the weight decay: lr · λ · parameter"""
    return lr * weight_decay * parameter


def stepped(parameter, lr, update, decay):
    """subtract lr times the update, and the decay → the new parameter: parameter − lr · update − decay"""
    return parameter - lr * update - decay


def result(stepped, new_mean, new_mean_square):
    """return the parameter and the new state → the new parameter and the two running means"""
    return stepped, new_mean, new_mean_square


STEPS = InSteps(
    new_mean, new_mean_square, unbiased, unbiased_square, denominator, update, decay, stepped, result,
    reference=adamw_step,
)  # fmt: skip

CONSTANTS = ("parameter", "gradient", "mean", "mean_square")
"""Inputs that need no gradient, because an optimizer computes without gradients."""


def adamw_step_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(shape, step, shows, *, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0, size=1.0):
        beta1, beta2 = betas
        seen = [size * normal(rng, *shape) for _ in range(2)]  # gradients from earlier steps
        is_first = step == 1
        inputs = {
            "parameter": normal(rng, *shape),
            "gradient": size * (0.5 + normal(rng, *shape)),
            "mean": torch.zeros(shape) if is_first else (1 - beta1**step) * seen[0],
            "mean_square": torch.zeros(shape) if is_first else (1 - beta2**step) * (seen[0] ** 2 + seen[1] ** 2),
            "step": step,
            "lr": uniform(rng, 0.1, 0.3),
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
        }
        return Case(inputs, shows, constants=CONSTANTS)

    return [
        case((1,), 1, "one number, the first step"),
        case((3,), 1, "3 numbers, the first step, betas of 0.8 and 0.95", betas=(0.8, 0.95)),
        case((4,), 2, "4 numbers, the second step"),
        case((5,), 3, "tiny gradients and an eps of 10⁻⁸", size=1e-4),
        case((2, 3), 7, "a matrix, step 7, weight decay 0.1", weight_decay=0.1),
        case((5, 2), 4, "a large eps", eps=0.3, betas=(0.7, 0.9)),
        case((7, 11), 50, "step 50, betas of 0.9 and 0.95, weight decay 0.3", betas=(0.9, 0.95), weight_decay=0.3),
    ]


MISTAKES = [
    Mistake(
        "no_bias_correction",
        STEPS.but(unbiased=lambda new_mean: new_mean, unbiased_square=lambda new_mean_square: new_mean_square),
        summary="you use both running means without bias correction",
        message=(
            "You use both running means without bias correction. They start at 0, so in step 1 the mean is only (1 − "
            "β₁) · gradient. Which number should you divide by to get the gradient back?"
        ),
        hints=["In step 1 with β₁ = 0.9, the new mean is 0.1 · gradient. What is a better estimate of the gradient?"],
    ),
    Mistake(
        "eps_inside_the_root",
        STEPS.but(denominator=lambda unbiased_square, eps: (unbiased_square + eps).sqrt()),
        summary="you add ε inside the square root",
        message="You add ε inside the square root. √10⁻⁸ is 10⁻⁴, ten thousand times larger than intended. Where does "
        "the paper put ε?",
        hints=["Compare √(0.0001² + 10⁻⁸) with √(0.0001²) + 10⁻⁸. Which is closer to 0.0001?"],
    ),
    Mistake(
        "eps_before_the_correction",
        STEPS.but(
            denominator=lambda new_mean_square, betas, step, eps: (
                (new_mean_square.sqrt() + eps) / (1 - betas[1] ** step) ** 0.5
            )
        ),
        summary="you add ε before the mean square is corrected",
        message=(
            "You add ε to the root of the *uncorrected* mean square, so the correction enlarges ε as well: by a "
            "factor of 32 in step 1 with β₂ = 0.999. When should you add ε?"
        ),
        hints=["Which two things do you divide by √(1 − β₂ˢᵗᵉᵖ)?"],
    ),
    Mistake(
        "l2_instead_of_decay",
        STEPS.but(
            gradient=lambda gradient, parameter, weight_decay: gradient + weight_decay * parameter,
            decay=lambda: 0.0,
        ),
        summary="you add the weight decay to the gradient instead of subtracting it from the parameter",
        message="You add the weight decay to the gradient, which is L2 regularization: Adam then divides it by the "
        "root mean square. AdamW keeps it out of both running means. Where is it applied instead?",
        hints=["Does the new running mean depend on `weight_decay` in your code? In AdamW it does not."],
    ),
    Mistake(
        "decay_without_lr",
        STEPS.but(decay=lambda parameter, weight_decay: weight_decay * parameter),
        summary="you don't multiply the weight decay by the learning rate",
        message="You subtract λ · parameter without the learning rate. PyTorch's AdamW scales both the update and the "
        "decay by one factor. Which factor is missing?",
        hints=["With a learning rate of 0, should the parameter change?"],
    ),
    Mistake(
        "corrected_means_returned",
        STEPS.but(result=lambda stepped, unbiased, unbiased_square: (stepped, unbiased, unbiased_square)),
        summary="you return the *corrected* means as the new state",
        message="You return the corrected means. The next step then corrects them a second time. Which two values does "
        "the next step continue from?",
        hints=["In step 2, what should `mean` be: (1 − β₁) · gradient of step 1, or that gradient itself?"],
    ),
    Mistake(
        "counts_steps_from_0",
        STEPS.but(step=lambda step: step + 1),
        summary="you use an exponent that is one too large in the bias correction",
        message="Your bias correction uses step + 1. `step` already counts from 1. What is 1 − β₁¹ for β₁ = 0.9?",
        hints=["In the first step, by which number should the mean be divided?"],
    ),
    Mistake(
        "beta1_for_both_means",
        STEPS.but(
            new_mean_square=lambda mean_square, gradient, betas: betas[0] * mean_square + (1 - betas[0]) * gradient**2,
            unbiased_square=lambda new_mean_square, betas, step: new_mean_square / (1 - betas[0] ** step),
        ),
        STEPS.but(
            new_mean_square=lambda mean_square, gradient, betas: betas[0] * mean_square + (1 - betas[0]) * gradient**2
        ),
        summary="you use β₁ for the mean square as well",
        message="You use β₁ for the mean square as well. The mean square should change much more slowly than the mean. "
        "Which of the two betas belongs to it?",
        hints=["With betas (0.9, 0.999), over about how many steps should each of the two averages run?"],
    ),
    Mistake(
        "weights_exchanged",
        STEPS.but(
            new_mean=lambda mean, gradient, betas: (1 - betas[0]) * mean + betas[0] * gradient,
            new_mean_square=lambda mean_square, gradient, betas: (1 - betas[1]) * mean_square + betas[1] * gradient**2,
        ),
        STEPS.but(new_mean=lambda mean, gradient, betas: (1 - betas[0]) * mean + betas[0] * gradient),
        summary="you give the newest gradient the weight β and the old mean the weight 1 − β",
        message="You give the newest gradient the weight β and the old mean the weight 1 − β, so the averages forget "
        "almost everything at each step. Which of the two should have the larger weight?",
        hints=["With a mean of 1, a gradient of 0 and β₁ = 0.9, is the new mean 0.9 or 0.1?"],
    ),
    Mistake(
        "decay_of_the_new_parameter",
        STEPS.but(
            decay=lambda parameter, update, lr, weight_decay: lr * weight_decay * (parameter - lr * update),
        ),
        summary="you decay the updated parameter instead of the old one",
        message=(
            "{summary}, so the step itself gets smaller by the factor 1 − lr · λ. Which parameter does the decay "
            "multiply?"
        ),
        hints=["Which two terms do you subtract, and which parameter is in each of them?"],
    ),
]

EXERCISE = Exercise(
    reference=adamw_step,
    steps=STEPS,
    cases=adamw_step_cases,
    points=3,
    stretch=True,
    verified="The parameter and both running means are those of `torch.optim.AdamW`, in the first step and in later "
    "ones.",
    hints=[
        "In step 1, both running means were 0. After the update with a gradient of 2 and β₁ = 0.9, the mean is 0.2. "
        "What should an estimate of the average gradient be?",
        "Four parts: two exponential moving averages, their bias correction, the ratio mean / root mean square, and "
        "decoupled weight decay.",
        "Update both averages, divide them by 1 − βˢᵗᵉᵖ, take lr · mean / (√(mean square) + ε), and subtract it and "
        "lr · weight_decay · parameter. Return the averages *without* the correction.",
        "The ratio is `(mean / (1 - betas[0] ** step)) / ((mean_square / (1 - betas[1] ** step)).sqrt() + eps)`.",
    ],
    messages={
        "call_left_out_denominator": Wording(
            "You divide by the mean square without taking its root. Twice the gradient then halves the step. What is "
            "the unit of the mean square?",
            summary="you don't take the square root of the mean square",
            hints=["If all gradients double, how should Adam's step change?"],
        ),
        "part_left_out_unbiased: 1": Wording(
            "{summary}: in step 1, it is only (1 − β₁) · gradient. Which number should you divide it by to get the "
            "gradient back?",
            summary="you leave out the bias correction of the mean",
            hints=["In step 1 with β₁ = 0.9, the new mean is 0.1 · gradient. What is a better estimate?"],
        ),
        "part_left_out_unbiased_square: 1": Wording(
            "{summary}: in step 1, it is only (1 − β₂) · gradient². Which number should you divide it by to get "
            "gradient² back?",
            summary="you leave out the bias correction of the mean square",
            hints=["In step 1 with β₂ = 0.999, the new mean square is 0.001 · gradient². What is a better estimate?"],
        ),
        "part_left_out_new_mean_square: gradient": Wording(
            "You update the mean square with the gradient, so the mean square can become negative, and its square root "
            "is then nan. Which power of the gradient does Adam average?",
            summary="you update the mean square with the gradient instead of its square",
        ),
    },
    mistakes=MISTAKES,
)
