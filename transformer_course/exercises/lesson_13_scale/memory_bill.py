"""The memory used by a training step."""

import torch

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared.draw_cases import generator
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def memory_bill(
    n_parameters: int, n_layers: int, d_model: int, n_kept: float, n_tokens: int, n_workers: int, checkpointing: bool
) -> dict[str, float]:
    """Return the bytes of each line of one worker's bill, in float32."""
    share = 4 * n_parameters / n_workers
    per_token = n_layers * d_model + n_kept if checkpointing else n_layers * n_kept
    return {"parameters": share, "gradients": share, "optimizer": 2 * share, "activations": 4 * n_tokens * per_token}


def size():
    """use 4 bytes for each number → the bytes per number: 4 in float32"""
    return 4


def share(n_parameters, n_workers, size):
    """divide the parameters among the workers → the bytes of a worker's parameters"""
    return size * n_parameters / n_workers


def optimizer(share):
    """count Adam's two running means for each parameter → the bytes of the optimizer state: twice the parameters'"""
    return 2 * share


def per_token(n_layers, d_model, n_kept, checkpointing):
    """count the activations of one token → the activations per token: all layers', or all inputs and one layer's"""
    return n_layers * d_model + n_kept if checkpointing else n_layers * n_kept


def activations(per_token, n_tokens, size):
    """multiply by the number of tokens → the bytes of the activations"""
    return per_token * n_tokens * size


def bill(share, optimizer, activations):
    """return the four lines by name → the bill: four lines, of which gradients take as much as parameters"""
    return {"parameters": share, "gradients": share, "optimizer": optimizer, "activations": activations}


STEPS = InSteps(size, share, optimizer, per_token, activations, bill, reference=memory_bill)


def memory_bill_cases(seed: int) -> list[Case]:
    n, n_layers, d_model, n_tokens = (2 * torch.randint(10, 90, (4,), generator=generator(seed)) + 1).tolist()
    rows = [
        (22, 1, 5, 41.0, 7, 1, False, "one layer"),
        (1100, 3, 5, 41.0, 7, 1, False, "3 layers"),
        (1100, 3, 5, 41.0, 7, 1, True, "3 layers with checkpointing"),
        (1100, 3, 5, 41.0, 7, 8, False, "8 workers"),
        (n, n_layers, d_model, 10.5 * d_model, n_tokens, 4, True, "4 workers and other sizes, with checkpointing"),
    ]
    return [Case(dict(zip(STEPS.arguments.parameters, row, strict=False)), row[-1]) for row in rows]


MISTAKES = [
    Mistake(
        "divides_activations",
        STEPS.but(activations=lambda activations, n_workers: activations / n_workers),
        summary="you divide the activations among the workers",
        message=(
            "{summary}. `n_tokens` already counts only one worker's tokens. Can another worker keep the activations "
            "of these tokens?"
        ),
    ),
    Mistake(
        "activations_of_all_workers",
        STEPS.but(activations=lambda activations, n_workers: activations * n_workers),
        summary="you count the activations of all workers instead of one",
        message="{summary}, so with 8 workers they come out 8 times too large.",
    ),
    Mistake(
        "computes_all_again",
        STEPS.but(
            per_token=lambda n_layers, d_model, n_kept, checkpointing: n_layers * (n_kept + checkpointing * d_model)
        ),
        summary="with checkpointing, you keep every layer's input *and* its `n_kept` numbers",
        message="{summary}, which is more than without it. How many layers need their `n_kept` numbers at a time?",
    ),
    Mistake(
        "only_the_optimizer_is_shared",
        STEPS.but(
            bill=lambda bill, share, n_workers: bill | dict.fromkeys(["parameters", "gradients"], share * n_workers)
        ),
        summary="you divide only the optimizer state among the workers",
        message="{summary}, which is ZeRO stage 1. Here the parameters and the gradients are sharded as well.",
    ),
    Mistake(
        "lines_exchanged",
        STEPS.but(bill=lambda bill: bill | {"gradients": bill["optimizer"], "optimizer": bill["gradients"]}),
        summary="you swap the gradient line and the optimizer line",
        message="{summary}. Which of the two holds two numbers for each parameter?",
    ),
]


EXERCISE = Exercise(
    reference=memory_bill,
    steps=STEPS,
    cases=memory_bill_cases,
    points=2,
    verified="All four lines are right, with and without checkpointing, for one worker and for many.",
    hints=[
        "Start with one worker, one layer and one token. How many numbers does each line hold, and how many bytes does "
        "a number take?",
        "A parameter has one gradient and two running means. With checkpointing, you keep the input of every layer and "
        "the `n_kept` numbers of one layer.",
        "A token takes `n_layers * d_model + n_kept` numbers with checkpointing, and `n_layers * n_kept` without.",
    ],
    messages={
        "scaled_n_tokens: n_tokens / 2": Wording(
            "{summary}. How many bytes do you count for each number, and how many tokens?",
            summary="your activations are half of what they should be",
        ),
        "left_out_optimizer: share": Wording(
            "{summary}. How many running averages does Adam keep for each parameter?",
            summary="you count one number per parameter for the optimizer state",
        ),
        "part_left_out_activations: per_token * n_tokens": Wording(
            "{summary}. How many bytes does a float32 take?",
            summary="you count the activations in numbers instead of bytes",
        ),
    },
    mistakes=MISTAKES,
)
