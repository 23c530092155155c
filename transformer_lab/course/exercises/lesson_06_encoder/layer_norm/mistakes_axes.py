"""What goes wrong in where vectors are normed, and in what happens to them afterwards."""

import torch

from transformer_lab.course.exercise import Mistake


def normed(x, dim, eps):
    centred = x - x.mean(dim=dim, keepdim=True)
    return centred / torch.sqrt(centred.square().mean(dim=dim, keepdim=True) + eps)


def over_the_whole_sentence(x, weight, bias, eps=1e-5):
    return weight * normed(x, tuple(range(-min(x.dim(), 2), 0)), eps) + bias


def over_everything(x, weight, bias, eps=1e-5):
    return weight * (x - x.mean()) / torch.sqrt(x.var(unbiased=False) + eps) + bias


def over_everything_by_default(x, weight, bias, eps=1e-5):
    return weight * (x - x.mean()) / torch.sqrt(x.var() + eps) + bias


def over_everything_by_default_and_eps_beside(x, weight, bias, eps=1e-5):
    return weight * (x - x.mean()) / (x.std() + eps) + bias


def over_the_batch(x, weight, bias, eps=1e-5):
    return weight * normed(x, 0, eps) + bias


def over_the_positions(x, weight, bias, eps=1e-5):
    return weight * normed(x, -min(x.dim(), 2), eps) + bias


def over_the_batch_by_default(x, weight, bias, eps=1e-5):
    return weight * (x - x.mean(dim=0)) / torch.sqrt(x.var(dim=0) + eps) + bias


def over_the_last_axis_but_one(x, weight, bias, eps=1e-5):
    return weight * normed(x, -2, eps) + bias


def third_axis_from_the_front(x, weight, bias, eps=1e-5):
    return weight * normed(x, 2, eps) + bias


def axis_from_the_front(x, weight, bias, eps=1e-5):
    mean = x.mean(dim=1, keepdim=True)
    variance = x.var(dim=1, keepdim=True, unbiased=False)
    return weight * (x - mean) / torch.sqrt(variance + eps) + bias


def mean_kept(x, weight, bias, eps=1e-5):
    return weight * x / torch.sqrt(x.var(dim=-1, keepdim=True, unbiased=False) + eps) + bias


def root_mean_square(x, weight, bias, eps=1e-5):
    return weight * x / torch.sqrt(x.square().mean(dim=-1, keepdim=True) + eps) + bias


def only_centred(x, weight, bias, eps=1e-5):
    return weight * (x - x.mean(dim=-1, keepdim=True)) + bias


def neither_weight_nor_bias(x, weight, bias, eps=1e-5):
    return normed(x, -1, eps)


def no_bias(x, weight, bias, eps=1e-5):
    return weight * normed(x, -1, eps)


def no_weight(x, weight, bias, eps=1e-5):
    return normed(x, -1, eps) + bias


def weight_and_bias_swapped(x, weight, bias, eps=1e-5):
    return bias * normed(x, -1, eps) + weight


def bias_inside(x, weight, bias, eps=1e-5):
    return weight * (normed(x, -1, eps) + bias)


def multiplied_by_the_sum(x, weight, bias, eps=1e-5):
    return normed(x, -1, eps) * (weight + bias)


def bias_divided_too(x, weight, bias, eps=1e-5):
    mean, variance = x.mean(dim=-1, keepdim=True), x.var(dim=-1, keepdim=True, unbiased=False)
    return (weight * (x - mean) + bias) / torch.sqrt(variance + eps)


def no_brackets(x, weight, bias, eps=1e-5):
    mean, variance = x.mean(dim=-1, keepdim=True), x.var(dim=-1, keepdim=True, unbiased=False)
    return weight * x - mean / torch.sqrt(variance + eps) + bias


def no_brackets_and_weighted_behind(x, weight, bias, eps=1e-5):
    mean, variance = x.mean(dim=-1, keepdim=True), x.var(dim=-1, keepdim=True, unbiased=False)
    return x - mean / torch.sqrt(variance + eps) * weight + bias


def axis_dropped(x, weight, bias, eps=1e-5):
    mean, variance = x.mean(dim=-1), x.var(dim=-1, unbiased=False)
    return weight * (x - mean) / torch.sqrt(variance + eps) + bias


def axis_of_the_variance_dropped(x, weight, bias, eps=1e-5):
    mean, variance = x.mean(dim=-1, keepdim=True), x.var(dim=-1, unbiased=False)
    return weight * (x - mean) / torch.sqrt(variance + eps) + bias


def centres_in_place(x, weight, bias, eps=1e-5):
    x -= x.mean(dim=-1, keepdim=True)
    return weight * x / torch.sqrt(x.square().mean(dim=-1, keepdim=True) + eps) + bias


def all_in_place(x, weight, bias, eps=1e-5):
    x -= x.mean(dim=-1, keepdim=True)
    x /= torch.sqrt(x.square().mean(dim=-1, keepdim=True) + eps)
    return weight * x + bias


MISTAKES = [
    Mistake(
        "over_the_whole_sentence",
        [
            over_the_whole_sentence,
            over_everything,
            over_everything_by_default,
            over_everything_by_default_and_eps_beside,
        ],
        says=(
            "Mean and variance are taken over all positions of a sentence together, or over even more. Then each position "
            "depends on all others, and on the padding. Look at which axes are averaged over."
        ),
        hints=[
            "Change the last vector of a sentence. May the output for the first one change?",
            "Each vector has a mean of its own: for x of shape (batch, n, d), the means have the shape (batch, n, 1).",
            "Average over the last axis only: `dim=-1`.",
        ],
    ),
    Mistake(
        "over_the_batch",
        [over_the_batch, over_the_batch_by_default],
        says=(
            "Each feature is normed over the sentences of the batch, which is what BatchNorm does. What comes out for a "
            "sentence then depends on its neighbours. Look at the axis of the mean."
        ),
        hints=[
            "Which of these should not matter for a vector: its own features, or the other sentences?",
            "The first axis counts the sentences, the last one the features.",
            "Average over the last axis: `dim=-1`.",
        ],
    ),
    Mistake(
        "over_the_positions",
        [over_the_positions, over_the_last_axis_but_one],
        says=(
            "Each feature is normed over the positions, so positions mix. It should be each position over its features. "
            "Look at the axis of the mean."
        ),
        hints=[
            "For x of shape (batch, n, d), which shape should the means have?",
            "One mean for each vector: (batch, n, 1).",
            "Average over the last axis: `dim=-1`.",
        ],
    ),
    Mistake(
        "axis_from_the_front",
        [axis_from_the_front, third_axis_from_the_front],
        says=(
            "Right for one number of axes in front of the features, and for no other: the axis is counted from the front. "
            "Look at how the axis is named."
        ),
        hints=[
            "For x of shape (batch, n, d), which number has the axis of the features? And for x of shape (d)?",
            "The features are the last axis, whatever stands in front.",
            "`dim=-1`.",
        ],
    ),
    Mistake(
        "mean_kept",
        [mean_kept],
        says="The mean of the result is not 0: x is divided, but never centred. Look at what is divided.",
        hints=[
            "What is the mean of the first case's result? It should be 0.",
            "Which number has to be subtracted from all features of a vector?",
            "Divide `x - mean`, not x.",
        ],
    ),
    Mistake(
        "root_mean_square",
        [root_mean_square],
        says=(
            "No mean is subtracted at all. That is another norm, RMSNorm, which lesson 11 is about. Here each vector is "
            "centred first."
        ),
        hints=[
            "What is the mean of the first case's result? It should be 0.",
            "Both the deviations and the variance are about the mean.",
            "Begin with `x - x.mean(dim=-1, keepdim=True)`.",
        ],
    ),
    Mistake(
        "only_centred",
        [only_centred],
        says="The mean is taken away, but the size of the vectors is as it was. A step is missing.",
        hints=[
            "What is the variance of each vector of the result, before weight and bias? It should be near 1.",
            "By what does one divide to bring the variance to 1?",
            "By the root of variance plus eps.",
        ],
    ),
    Mistake(
        "neither_weight_nor_bias",
        [neither_weight_nor_bias, no_bias, no_weight],
        says=(
            "Weight or bias has no effect. After the norming each feature is stretched *and* shifted. Look for arguments "
            "that are not used."
        ),
        hints=[
            "Which argument can be changed without changing the result?",
            "Which argument stretches, and which one shifts?",
            "Multiply by the weight, then add the bias.",
        ],
    ),
    Mistake(
        "weight_and_bias_swapped",
        [weight_and_bias_swapped],
        says="Weight and bias have changed places.",
        hints=[
            "Which of the two is multiplied by?",
            "With a weight of 1 and a bias of 0 nothing should happen.",
            "The weight multiplies, the bias is added.",
        ],
    ),
    Mistake(
        "bias_inside",
        [bias_inside],
        says="The bias is multiplied by the weight, too. Look at the brackets.",
        hints=[
            "With a weight of 2 and a bias of 3, what should 0 become?",
            "First stretch, then shift.",
            "Add the bias last.",
        ],
    ),
    Mistake(
        "multiplied_by_the_sum",
        [multiplied_by_the_sum],
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
        [bias_divided_too],
        says="The bias is divided by the root, too. Look at the brackets.",
        hints=[
            "What should come out for the vector (3, 3, 3, 3), whose deviations are all 0?",
            "First norm, then stretch, then shift.",
            "Add the bias last, outside the fraction.",
        ],
    ),
    Mistake(
        "no_brackets",
        [no_brackets, no_brackets_and_weighted_behind],
        says=(
            "Only the mean is divided, and not the difference: division binds more tightly than subtraction. Look at the "
            "brackets."
        ),
        hints=[
            "What is 8 - 6 / 2 in Python?",
            "First the mean is taken away, and the result is divided.",
            "Put `x - mean` in brackets.",
        ],
    ),
    Mistake(
        "axis_dropped",
        [axis_dropped, axis_of_the_variance_dropped],
        says=(
            "Right for a single vector. For several, mean or variance has lost its last axis, so it does not line up with "
            "the vectors: a crash, or, where n and d are equal, nonsense. Look at the shape of the mean."
        ),
        hints=[
            "x has the shape (2, 3, 5). Which shape has `x.mean(dim=-1)`?",
            "To be subtracted from x, it should have the shape (2, 3, 1).",
            "`keepdim=True` keeps the axis, with length 1.",
        ],
    ),
    Mistake(
        "centres_in_place",
        [centres_in_place, all_in_place],
        says=(
            "The result is right, but x is not what it was: it is changed in place, and whoever called may still need it. "
            "In an encoder layer, the residual does. Look at what `-=` and `/=` do to a tensor."
        ),
        hints=[
            "Which line writes into x itself?",
            "`x -= 1` changes the tensor; `x = x - 1` makes a new one.",
            "Give the centred vectors a name of their own.",
        ],
    ),
]
