"""The answer to ``memory_bill``, plainly and in steps."""

from transformer_course.steps import InSteps


def memory_bill(
    n_parameters: int, n_layers: int, d_model: int, n_kept: float, n_tokens: int, n_workers: int, checkpointing: bool
) -> dict[str, float]:
    """Return the bytes of each line of one worker's bill, in float32."""
    share = 4 * n_parameters / n_workers
    per_token = n_layers * d_model + n_kept if checkpointing else n_layers * n_kept
    return {"parameters": share, "gradients": share, "optimizer": 2 * share, "activations": 4 * n_tokens * per_token}


def size():
    """count 4 bytes for each number → the bytes of a number: 4 in float32"""
    return 4


def share(n_parameters, n_workers, size):
    """divide the parameters among the workers → the bytes of the parameters that a worker keeps"""
    return size * n_parameters / n_workers


def optimizer(share):
    """count Adam's two running means of each parameter → the bytes of the optimizer's state: twice the parameters'"""
    return 2 * share


def per_token(n_layers, d_model, n_kept, checkpointing):
    """count what is kept for a token → what is kept for a token: all layers' numbers, or all inputs and one layer's"""
    return n_layers * d_model + n_kept if checkpointing else n_layers * n_kept


def activations(per_token, n_tokens, size):
    """multiply by the number of tokens → the bytes of what is kept for all tokens"""
    return per_token * n_tokens * size


def bill(share, optimizer, activations):
    """write each line under its name → the bill: four lines, and gradients take as much as parameters"""
    return {"parameters": share, "gradients": share, "optimizer": optimizer, "activations": activations}


STEPS = InSteps(size, share, optimizer, per_token, activations, bill, reference=memory_bill)
