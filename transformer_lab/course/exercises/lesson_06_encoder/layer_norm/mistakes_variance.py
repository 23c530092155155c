"""What goes wrong in what vectors are divided by."""

import math

import torch

from transformer_lab.course.exercise import Mistake
from transformer_lab.course.exercises.lesson_06_encoder.layer_norm.mistakes_axes import normed


def eps_beside_the_root(x, weight, bias, eps=1e-5):
    mean, deviation = x.mean(dim=-1, keepdim=True), x.std(dim=-1, keepdim=True, unbiased=False)
    return weight * (x - mean) / (deviation + eps) + bias


def unbiased_variance(x, weight, bias, eps=1e-5):
    mean, variance = x.mean(dim=-1, keepdim=True), x.var(dim=-1, keepdim=True)
    return weight * (x - mean) / torch.sqrt(variance + eps) + bias


def unbiased_deviation_and_eps(x, weight, bias, eps=1e-5):
    mean, deviation = x.mean(dim=-1, keepdim=True), x.std(dim=-1, keepdim=True)
    return weight * (x - mean) / (deviation + eps) + bias


def no_eps(x, weight, bias, eps=1e-5):
    return weight * normed(x, -1, 0.0) + bias


def eps_fixed(x, weight, bias, eps=1e-5):
    return weight * normed(x, -1, 1e-5) + bias


def eps_squared(x, weight, bias, eps=1e-5):
    return weight * normed(x, -1, eps**2) + bias


def divides_by_the_variance(x, weight, bias, eps=1e-5):
    mean, variance = x.mean(dim=-1, keepdim=True), x.var(dim=-1, keepdim=True, unbiased=False)
    return weight * (x - mean) / (variance + eps) + bias


def sum_of_squares(x, weight, bias, eps=1e-5):
    mean = x.mean(dim=-1, keepdim=True)
    variance = (x - mean).square().sum(dim=-1, keepdim=True)
    return weight * (x - mean) / torch.sqrt(variance + eps) + bias


def squares_not_centred(x, weight, bias, eps=1e-5):
    mean, variance = x.mean(dim=-1, keepdim=True), x.square().mean(dim=-1, keepdim=True)
    return weight * (x - mean) / torch.sqrt(variance + eps) + bias


def unbiased_deviation_without_eps(x, weight, bias, eps=1e-5):
    return weight * (x - x.mean(dim=-1, keepdim=True)) / x.std(dim=-1, keepdim=True) + bias


def root_of_the_deviation(x, weight, bias, eps=1e-5):
    mean, deviation = x.mean(dim=-1, keepdim=True), x.std(dim=-1, keepdim=True, unbiased=False)
    return weight * (x - mean) / torch.sqrt(deviation + eps) + bias


def root_of_the_unbiased_deviation(x, weight, bias, eps=1e-5):
    mean, deviation = x.mean(dim=-1, keepdim=True), x.std(dim=-1, keepdim=True)
    return weight * (x - mean) / torch.sqrt(deviation + eps) + bias


def root_of_a_number(x, weight, bias, eps=1e-5):
    mean, variance = x.mean(dim=-1, keepdim=True), x.var(dim=-1, keepdim=True, unbiased=False)
    return weight * (x - mean) / math.sqrt(variance + eps) + bias


MISTAKES = [
    Mistake(
        "eps_beside_the_root",
        [eps_beside_the_root],
        says=(
            "eps is added to the standard deviation. It belongs to the variance, under the root. With a small eps nobody "
            "notices, until a vector is nearly constant. Look at where eps stands."
        ),
        hints=[
            "In the first case the variance is 3 and eps is 1. What should be divided by?",
            "By 2, the root of 3 + 1; not by 1 + √3.",
            "Take the root of `variance + eps`.",
        ],
    ),
    Mistake(
        "unbiased_variance",
        [unbiased_variance],
        says=(
            "The sum of squares is divided by d − 1, as statisticians do for a sample, and as `var` does unless told "
            "otherwise. Here the d features are all there is. Look at how the variance is computed."
        ),
        hints=[
            "In the first case, the squares of the deviations are 1, 1, 1 and 9. Which variance comes out: 3 or 4?",
            "It should be their mean: 12 / 4.",
            "`x.var(dim=-1, keepdim=True, unbiased=False)`, or the mean of the squared deviations.",
        ],
    ),
    Mistake(
        "unbiased_deviation_and_eps",
        [unbiased_deviation_and_eps],
        says=(
            "Two things at once, as in a widely read tutorial: `std` divides by d − 1, and eps is added to the deviation "
            "instead of the variance."
        ),
        hints=[
            "In the first case the variance is 3, and eps is 1. What should be divided by?",
            "First compute the variance, the mean of the squared deviations; then add eps; then take the root.",
            "`torch.sqrt(x.var(dim=-1, keepdim=True, unbiased=False) + eps)`.",
        ],
    ),
    Mistake(
        "no_eps",
        [no_eps],
        says="Where all features of a vector are alike, 0 is divided by 0. Look for `eps`.",
        hints=[
            "What is the variance of (3, 3, 3, 3)?",
            "`eps` keeps what is divided by away from 0.",
            "Add eps to the variance, under the root.",
        ],
    ),
    Mistake(
        "eps_fixed",
        [eps_fixed],
        says="The result is the same for every eps: 0.00001 seems to be written into the formula.",
        hints=[
            "What should happen when `eps` is 1?",
            "The argument has a name; a number in its place never changes.",
            "Add the argument `eps` to the variance.",
        ],
    ),
    Mistake(
        "eps_squared",
        [eps_squared],
        says="eps is squared. It is added to the variance as it is. Look at where eps comes in.",
        hints=[
            "In which case does eps make a difference that can be seen?",
            "The formula has the square of the deviations, but not of eps.",
            "The root of `variance + eps`.",
        ],
    ),
    Mistake(
        "divides_by_the_variance",
        [divides_by_the_variance],
        says=(
            "The deviations are divided by the variance, so large vectors come out small and small ones large. A step is "
            "missing."
        ),
        hints=[
            "Should multiplying x by 10 change the result much?",
            "The variance grows with the *square* of x.",
            "Divide by the root of it.",
        ],
    ),
    Mistake(
        "sum_of_squares",
        [sum_of_squares],
        says=(
            "The squared deviations are added up and not averaged, so vectors of many features come out small. Look at how "
            "the variance is computed."
        ),
        hints=[
            "In the first case, the squares of the deviations are 1, 1, 1 and 9. Which variance comes out: 3 or 12?",
            "The variance is the *mean* of the squared deviations.",
            "`(x - mean).square().mean(dim=-1, keepdim=True)`.",
        ],
    ),
    Mistake(
        "squares_not_centred",
        [squares_not_centred],
        says=(
            "x is centred, but the variance is made of the squares of x itself. It is the mean of the squared *deviations* "
            "from the mean. Look at what is squared."
        ),
        hints=[
            "What is the variance of (3, 3, 3, 3), and what comes out here?",
            "Adding 100 to all features of a vector should not change its variance.",
            "`(x - mean).square().mean(dim=-1, keepdim=True)`.",
        ],
    ),
    Mistake(
        "unbiased_deviation_without_eps",
        [unbiased_deviation_without_eps],
        says=(
            "Two things at once: `std` divides by d − 1 unless told otherwise, and eps has no effect, so that 0 is divided "
            "by 0 where all features are alike."
        ),
        hints=[
            "In the first case the variance is 3, and eps is 1. What should be divided by?",
            "First compute the variance, the mean of the squared deviations; then add eps; then take the root.",
            "`torch.sqrt(x.var(dim=-1, keepdim=True, unbiased=False) + eps)`.",
        ],
    ),
    Mistake(
        "root_of_the_deviation",
        [root_of_the_deviation, root_of_the_unbiased_deviation],
        says="The root is taken twice: `std` is the root of the variance already. Look at what is under the root.",
        hints=[
            "In the first case the variance is 3. What is the standard deviation, and what is divided by?",
            "eps is added to the variance, and then one root is taken.",
            "`torch.sqrt(x.var(dim=-1, keepdim=True, unbiased=False) + eps)`.",
        ],
    ),
    Mistake(
        "root_of_a_number",
        [root_of_a_number],
        says=(
            "`math.sqrt` takes the root of a single number, so only a single vector can be normed. Each vector has a "
            "variance of its own."
        ),
        hints=[
            "Which shape has the variance of 3 vectors?",
            "Torch has a root that works entry by entry.",
            "`torch.sqrt`, or `(…) ** 0.5`.",
        ],
    ),
]
