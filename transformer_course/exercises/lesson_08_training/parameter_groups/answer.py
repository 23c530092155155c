"""The answer to ``parameter_groups`` in steps; the plain one is the library's."""

from transformer_course.steps import InSteps
from transformer_lab.training.optimizer import parameter_groups


def parameters(model):
    """list the parameters of the model, each once

    the parameters, each once
    """
    return list(model.parameters())


def decays():
    """decide by the number of axes whether a parameter decays

    whether a parameter decays: whether it has two axes or more
    """
    return lambda p: p.dim() >= 2


def entry():
    """hand over the parameters themselves

    what stands in the lists: the parameters themselves
    """
    return lambda p: p


def decaying(parameters, decays, entry):
    """list those that decay

    the parameters that decay
    """
    return [entry(p) for p in parameters if decays(p)]


def others(parameters, decays, entry):
    """list all the others

    the parameters that do not decay
    """
    return [entry(p) for p in parameters if not decays(p)]


def decay(weight_decay):
    """take the weight decay that was given for the ones

    the weight decay of the first group
    """
    return weight_decay


def no_decay():
    """take 0 for the others

    the weight decay of the second group: 0
    """
    return 0.0


def groups(decaying, others, decay, no_decay):
    """make a dict of each list and its weight decay

    the two groups
    """
    return [{"params": decaying, "weight_decay": decay}, {"params": others, "weight_decay": no_decay}]


STEPS = InSteps(parameters, decays, entry, decaying, others, decay, no_decay, groups, reference=parameter_groups)
