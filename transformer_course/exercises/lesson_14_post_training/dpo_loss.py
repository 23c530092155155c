"""Direct preference optimization: of two answers, the chosen one should gain more than the rejected one."""

import torch

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared.draw_cases import generator, uniform
from transformer_course.running.case import Case
from transformer_course.steps import InSteps
from transformer_lab.training.fine_tuning import dpo_loss


def chosen_gain(chosen, reference_chosen):
    """compare model and reference on the chosen answer → the gain of the chosen answer: chosen − reference_chosen"""
    return chosen - reference_chosen


def rejected_gain(rejected, reference_rejected):
    """compare model and reference on the rejected answer → its gain: rejected − reference_rejected"""
    return rejected - reference_rejected


def margin(chosen_gain, rejected_gain):
    """subtract the second gain from the first → the margin: the gain of the chosen answer minus the other gain"""
    return chosen_gain - rejected_gain


def scaled(margin, beta):
    """multiply it by β → the margin times β"""
    return beta * margin


def log_probabilities(scaled):
    """take the logarithm of the sigmoid → the log-probability that the chosen answer is preferred: log σ(β · margin)"""
    return torch.nn.functional.logsigmoid(scaled)


def losses(log_probabilities):
    """turn the sign round → the loss of each pair, (batch,)"""
    return -log_probabilities


def loss(losses):
    """take the mean over the pairs → the loss: the mean over the pairs"""
    return losses.mean()


STEPS = InSteps(chosen_gain, rejected_gain, margin, scaled, log_probabilities, losses, loss, reference=dpo_loss)


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


def guarded(tiny):
    """Make the step that adds a tiny number before it takes the logarithm."""
    return STEPS.but(log_probabilities=lambda scaled: (scaled.sigmoid() + tiny).log())


MISTAKES = [
    Mistake(
        "ratio_of_probabilities",
        STEPS.but(
            chosen_gain=lambda chosen_gain: chosen_gain.exp(),
            rejected_gain=lambda rejected_gain: rejected_gain.exp(),
        ),
        STEPS.but(
            chosen_gain=lambda chosen, reference_chosen: chosen.exp() - reference_chosen.exp(),
            rejected_gain=lambda rejected, reference_rejected: rejected.exp() - reference_rejected.exp(),
        ),
        summary="`exp` turns log-probabilities into probabilities before they are compared",
        message="Probabilities are compared, by `exp`. The margin is made of *log*-probabilities, as they are given.",
        hints=["How large is e^(−60), and what is left of a difference of two such numbers?"],
    ),
    Mistake(
        "hinge",
        STEPS.but(losses=lambda scaled: (1 - scaled).relu()),
        STEPS.but(losses=lambda scaled: (-scaled).relu()).attempt,
        summary="the loss of a pair is a straight line that is cut off at 0",
        message="{summary}. Here it is −log σ of β times the margin.",
        hints=["What should the loss be for a margin of 0?"],
    ),
    Mistake(
        "log_of_the_sigmoid",
        STEPS.but(log_probabilities=lambda scaled: scaled.sigmoid().log()),
        STEPS.but(log_probabilities=lambda scaled: -(1 + (-scaled).exp()).log()),
        guarded(1e-9),
        *[guarded(tiny).attempt for tiny in (1e-6, 1e-7, 1e-8, 1e-10, 1e-12)],
        summary="the logarithm is taken of a sigmoid that has become 0 where the margin is far below 0",
        message=(
            "Where the margin is far below 0, the sigmoid becomes 0 before its logarithm is taken, and the loss is "
            "infinite, or is cut off."
        ),
        hints=["In a new cell: `torch.tensor(-300.0).sigmoid().log()`."],
    ),
    Mistake(
        "without_the_gradient",
        STEPS.but(loss=lambda loss: loss.detach()).attempt,
        STEPS.but(loss=lambda loss: loss.item()).attempt,
        message=(
            "The number is right, but it is cut off from the log-probabilities: no gradient gets back to the model."
        ),
        hints=[
            "What does `.backward()` need?",
            "`.item()`, `.detach()` and `torch.no_grad()` end the path that gradients take.",
            "Leave them out, and return the tensor itself.",
        ],
    ),
]


EXERCISE = Exercise(
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
    messages={
        "operator_rejected_gain: (rejected) + (reference_rejected)": Wording(
            "{summary}: a minus in front of brackets turns the sign of each number in them.",
            summary="`reference_rejected` comes in with the wrong sign",
        ),
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
