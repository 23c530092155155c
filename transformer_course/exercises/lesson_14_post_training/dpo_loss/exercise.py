"""Direct preference optimisation: of two answers, the chosen one should gain more than the rejected one."""

import torch

from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_14_post_training.dpo_loss.answer import STEPS
from transformer_course.exercises.lesson_14_post_training.dpo_loss.mistakes import MISTAKES
from transformer_course.exercises.shared.draw_cases import generator, uniform
from transformer_course.running.case import Case
from transformer_lab.training.fine_tuning import dpo_loss

NAMES = ("chosen", "rejected", "reference_chosen", "reference_rejected")


def dpo_loss_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(batch, beta, shows, *, spread=3.0, digits=None):
        """Draw log-probabilities of whole answers, all of them different."""
        drawn = {name: -1 - spread * torch.rand(batch, generator=rng) for name in NAMES}
        if digits is not None:  # to work by hand
            drawn = {name: value.round(decimals=digits) for name, value in drawn.items()}
        return Case({**drawn, "beta": beta}, shows)

    same = case(3, 0.5, "a model that is its own reference")
    same.inputs["reference_chosen"].copy_(same.inputs["chosen"])
    same.inputs["reference_rejected"].copy_(same.inputs["rejected"])
    wrong = case(2, 2.0, "a pair of which the model prefers the wrong answer by far")
    wrong.inputs["rejected"][0] = -0.5
    wrong.inputs["chosen"][0] = -300.0
    return [
        case(1, 1.0, "one pair, β of 1", digits=1),
        case(1, 0.1, "one pair, β of 0.1", digits=1),
        same,
        case(3, uniform(rng, 0.3, 0.7), "3 pairs", digits=1),
        wrong,
        case(4, 2.0, "4 pairs, β of 2"),
        case(13, 0.1, "13 long answers, and gradients", spread=60.0),
    ]


DPO_LOSS = Exercise(
    reference=dpo_loss,
    steps=STEPS,
    cases=dpo_loss_cases,
    points=2,
    verified="It falls when the chosen answer gains more on the reference than the rejected one, and it stays finite "
    "however far the two are apart.",
    hints=[
        "For each of the two answers: by how much did its log-probability grow since the reference?",
        "The margin is what the chosen answer gained minus what the rejected one gained. The larger it is, the "
        "smaller the loss should be.",
        "The loss of a pair is −log σ(β · margin), and the loss of the batch their mean.",
        "`torch.nn.functional.logsigmoid` takes the sigmoid and its logarithm without forming e to a large power.",
    ],
    told={
        "wrong_input_rejected_gain: reference_chosen": (
            "The reference is not used: a model that prefers the chosen answer from the start is rewarded for "
            "what it never learned."
        ),
        "moved_log_probabilities: margin": (
            "β multiplies the whole loss. It belongs inside the sigmoid, where it says how much a margin counts."
        ),
    },
    mistakes=MISTAKES,
)
