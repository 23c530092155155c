"""The answer to ``route`` in steps; the plain one is the library's."""

from transformer_course.steps import InSteps
from transformer_lab.layers.mixture_of_experts import route


def experts(logits, k):
    """find the k largest logits of each token

    the experts: the places of the k largest logits of each token
    """
    return logits.topk(k, dim=-1).indices


def chosen(logits, experts):
    """read their logits

    the logits of the chosen experts
    """
    return logits.gather(-1, experts)


def weights(chosen):
    """take the softmax over them

    the weights: the softmax over the chosen experts
    """
    return chosen.softmax(dim=-1)


def output(weights, experts):
    """return weights and experts

    the weights and the experts
    """
    return weights, experts


STEPS = InSteps(experts, chosen, weights, output, reference=route)
