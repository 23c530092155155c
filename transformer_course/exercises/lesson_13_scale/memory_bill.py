"""What a step of training keeps in memory."""

import torch

from transformer_course.exercise import Exercise, Mistake
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


def memory_bill_cases(seed: int) -> list[Case]:
    n, n_layers, d_model, n_tokens = (2 * torch.randint(10, 90, (4,), generator=generator(seed)) + 1).tolist()
    rows = [
        (22, 1, 5, 41.0, 7, 1, False, "one layer"),
        (1100, 3, 5, 41.0, 7, 1, False, "3 layers"),
        (1100, 3, 5, 41.0, 7, 1, True, "the same with checkpointing"),
        (1100, 3, 5, 41.0, 7, 8, False, "8 workers"),
        (n, n_layers, d_model, 10.5 * d_model, n_tokens, 4, True, "4 workers, checkpointing, and other sizes"),
    ]
    return [Case(dict(zip(STEPS.arguments.parameters, row, strict=False)), row[-1]) for row in rows]


MISTAKES = [
    Mistake(
        "divides_activations",
        STEPS.but(activations=lambda activations, n_workers: activations / n_workers),
        summary="the activations are divided among the workers",
        message="{summary}. `n_tokens` are those of one worker: who else would keep them?",
    ),
    Mistake(
        "activations_of_all_workers",
        STEPS.but(activations=lambda activations, n_workers: activations * n_workers),
        summary="the activations are those of all workers together, and not of one",
    ),
    Mistake(
        "computes_all_again",
        STEPS.but(
            per_token=lambda n_layers, d_model, n_kept, checkpointing: n_layers * (n_kept + checkpointing * d_model)
        ),
        summary="with checkpointing, all layers keep their inputs *and* their `n_kept` numbers, more than without",
    ),
    Mistake(
        "only_the_optimizer_is_shared",
        STEPS.but(
            bill=lambda bill, share, n_workers: bill | dict.fromkeys(["parameters", "gradients"], share * n_workers)
        ),
        summary="parameters and gradients are not divided among the workers, only the optimizer's state is",
        message="{summary}. That exists (stage 1 of ZeRO); here all three lines are shared.",
    ),
    Mistake(
        "lines_exchanged",
        STEPS.but(bill=lambda bill: bill | {"gradients": bill["optimizer"], "optimizer": bill["gradients"]}),
        summary="the lines of the gradients and of the optimizer are exchanged",
    ),
]


EXERCISE = Exercise(
    reference=memory_bill,
    steps=STEPS,
    cases=memory_bill_cases,
    points=2,
    verified="Four lines, with checkpointing and without, for one worker and for many.",
    hints=[
        "Begin with one worker, one layer, and one token. How many numbers has each line, and how many bytes a number?",
        "A parameter has one gradient and two means. With checkpointing, all inputs are kept, and one layer's numbers.",
        "With checkpointing, `n_layers * d_model + n_kept` numbers for each token; without, `n_layers * n_kept`.",
    ],
    mistakes=MISTAKES,
)
