"""The answer to ``attention_parameters``, plainly and in steps."""

from transformer_course.steps import InSteps


def attention_parameters(d_model: int, n_heads: int, bias: bool = True) -> int:
    """Count the parameters of a multi-head attention."""
    per_layer = d_model * d_model + (d_model if bias else 0)
    return 4 * per_layer


def weights(d_model):
    """multiply inputs by outputs: the weights of one layer

    the number of weights of one layer: d_model times d_model
    """
    return d_model * d_model


def biases(d_model, bias):
    """count its biases, if it has any: one for each output

    the number of biases of one layer: d_model, or 0 without biases
    """
    return d_model if bias else 0


def per_layer(weights, biases):
    """add the two up: the parameters of one layer

    the number of parameters of one layer: its weights and its biases
    """
    return weights + biases


def layers():
    """count the layers

    the number of layers: w_q, w_k, w_v and w_o
    """
    return 4


def total(layers, per_layer):
    """multiply by the number of layers

    the number of parameters of all layers: that of one, times 4
    """
    return layers * per_layer


STEPS = InSteps(weights, biases, per_layer, layers, total, reference=attention_parameters)
