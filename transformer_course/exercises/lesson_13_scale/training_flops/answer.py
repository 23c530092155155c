"""The answer to ``training_flops``, plainly and in steps."""

from transformer_course.steps import InSteps


def training_flops(n_parameters: int, n_tokens: int) -> int:
    """Return the operations of training: 2 for each parameter and token forward, and twice as many backward."""
    return 6 * n_parameters * n_tokens


def forward(n_parameters):
    """count a product and a sum for each parameter

    the operations of a token in the forward pass: 2 for each parameter
    """
    return 2 * n_parameters


def backward(forward):
    """count twice as many for the backward pass

    the operations of a token in the backward pass: twice those of the forward pass
    """
    return 2 * forward


def of_a_token(forward, backward):
    """add the two

    the operations of a token
    """
    return forward + backward


def flops(of_a_token, n_tokens):
    """multiply by the number of tokens

    the operations of the whole training
    """
    return of_a_token * n_tokens


STEPS = InSteps(forward, backward, of_a_token, flops, reference=training_flops)
