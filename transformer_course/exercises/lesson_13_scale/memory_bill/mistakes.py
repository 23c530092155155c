"""What goes wrong when the memory of training is counted."""

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_13_scale.memory_bill.answer import STEPS

MISTAKES = [
    Mistake(
        "divides_activations",
        STEPS.but(activations=lambda activations, n_workers: activations / n_workers),
        does="the activations are divided among the workers",
        says="{does}. `n_tokens` are those of one worker: who else would keep them?",
    ),
    Mistake(
        "activations_of_all_workers",
        STEPS.but(activations=lambda activations, n_workers: activations * n_workers),
        does="the activations are those of all workers together, and not of one",
    ),
    Mistake(
        "computes_all_again",
        STEPS.but(
            per_token=lambda n_layers, d_model, n_kept, checkpointing: n_layers * (n_kept + checkpointing * d_model)
        ),
        does="with checkpointing, all layers keep their inputs *and* their `n_kept` numbers, more than without",
    ),
    Mistake(
        "only_the_optimizer_is_shared",
        STEPS.but(
            bill=lambda bill, share, n_workers: bill | dict.fromkeys(["parameters", "gradients"], share * n_workers)
        ),
        does="parameters and gradients are not divided among the workers, only the optimizer's state is",
        says="{does}. That exists (stage 1 of ZeRO); here all three lines are shared.",
    ),
    Mistake(
        "lines_exchanged",
        STEPS.but(bill=lambda bill: bill | {"gradients": bill["optimizer"], "optimizer": bill["gradients"]}),
        does="the lines of the gradients and of the optimizer are exchanged",
    ),
]
