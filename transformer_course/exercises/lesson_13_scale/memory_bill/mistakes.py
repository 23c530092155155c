"""What goes wrong when the memory of a training is counted."""

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
        "computes_all_again",
        STEPS.but(
            per_token=lambda n_layers, d_model, n_kept, checkpointing: n_layers * (n_kept + checkpointing * d_model)
        ),
        does="with checkpointing, all layers keep their inputs *and* their `n_kept` numbers, more than without",
    ),
]
