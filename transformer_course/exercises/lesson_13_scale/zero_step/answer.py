"""The answer to ``zero_step``, plainly and in steps."""

from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from transformer_course.steps import InSteps


def zero_step(
    parameters: Float[Tensor, " n"],
    gradients: Float[Tensor, "n_workers n"],
    means: Float[Tensor, "n_workers n_shard"],
    mean_squares: Float[Tensor, "n_workers n_shard"],
    step: int,
    rate: float,
) -> tuple[Float[Tensor, " n"], Float[Tensor, "n_workers n_shard"], Float[Tensor, "n_workers n_shard"]]:
    """Return the parameters after a step of Adam, and each worker's shards of the two new running means."""
    n_padding = means.numel() - len(parameters)
    own, gradient = (F.pad(x, (0, n_padding)).view(means.shape) for x in (parameters, gradients.mean(dim=0)))
    means = 0.9 * means + 0.1 * gradient
    mean_squares = 0.999 * mean_squares + 0.001 * gradient**2
    unbiased, unbiased_squares = means / (1 - 0.9**step), mean_squares / (1 - 0.999**step)
    own = own - rate * unbiased / (unbiased_squares.sqrt() + 1e-8)
    return own.flatten()[: len(parameters)], means, mean_squares


def n_padding(means, parameters):
    """count the zeros that fill up the last shards

    the number of zeros that fill up the last shards
    """
    return means.numel() - len(parameters)


def cut(n_padding, means):
    """fill up with zeros at the end, and cut into equal shards

    what cuts numbers into equal shards, one for each worker, with zeros at the end
    """
    return lambda x: F.pad(x, (0, n_padding)).view(means.shape)


def averaged(gradients):
    """average the gradients over the workers

    the gradient of the whole batch, (n)
    """
    return gradients.mean(dim=0)


def gradient(cut, averaged):
    """cut the averaged gradient into shards

    each worker's shard of the averaged gradient, (n_workers, n_shard)
    """
    return cut(averaged)


def own(cut, parameters):
    """cut the parameters into shards

    each worker's shard of the parameters, (n_workers, n_shard)
    """
    return cut(parameters)


def new_means(means, gradient):
    """bring the running mean of the gradient up to date

    the new running mean of the gradient: 0.9 · old + 0.1 · gradient
    """
    return 0.9 * means + 0.1 * gradient


def new_mean_squares(mean_squares, gradient):
    """bring the running mean of its square up to date

    the new running mean of the squared gradient: 0.999 · old + 0.001 · gradient²
    """
    return 0.999 * mean_squares + 0.001 * gradient**2


def unbiased(new_means, step):
    """correct the mean for its start at 0

    the corrected mean: divided by 1 − 0.9ˢᵗᵉᵖ
    """
    return new_means / (1 - 0.9**step)


def unbiased_squares(new_mean_squares, step):
    """correct the mean square for its start at 0

    the corrected mean square: divided by 1 − 0.999ˢᵗᵉᵖ
    """
    return new_mean_squares / (1 - 0.999**step)


def update(unbiased, unbiased_squares, rate):
    """divide the mean by the root of the mean square, times the rate

    the change of each parameter: rate · mean / (√(mean square) + 10⁻⁸)
    """
    return rate * unbiased / (unbiased_squares.sqrt() + 1e-8)


def updated(own, update):
    """take the step on each shard

    each worker's shard of the new parameters, (n_workers, n_shard)
    """
    return own - update


def gathered(updated, parameters):
    """put the shards together, and drop the zeros

    the new parameters, (n)
    """
    return updated.flatten()[: len(parameters)]


def result(gathered, new_means, new_mean_squares):
    """return the parameters and the new state

    the new parameters, and the shards of the two running means
    """
    return gathered, new_means, new_mean_squares


STEPS = InSteps(
    n_padding, cut, averaged, gradient, own, new_means, new_mean_squares, unbiased, unbiased_squares, update, updated,
    gathered, result, reference=zero_step
)  # fmt: skip
