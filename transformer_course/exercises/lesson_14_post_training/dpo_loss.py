"""Direct preference optimization: the chosen answer should gain more than the rejected answer."""

import torch

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared.draw_cases import generator, uniform
from transformer_course.running.case import Case
from transformer_course.steps import InSteps
from transformer_lab.training.fine_tuning import dpo_loss


def chosen_gain(chosen, reference_chosen):
    """subtract `reference_chosen` from `chosen` → the gain of the chosen answer: chosen − reference_chosen"""
    return chosen - reference_chosen


def rejected_gain(rejected, reference_rejected):
    """subtract `reference_rejected` from `rejected` → the gain of the rejected answer: rejected − reference_rejected"""
    return rejected - reference_rejected


def margin(chosen_gain, rejected_gain):
    """subtract the rejected answer's gain from the chosen answer's gain → the margin: the difference of the gains"""
    return chosen_gain - rejected_gain


def scaled(margin, beta):
    """multiply the margin by β → the margin times β"""
    return beta * margin


def log_probabilities(scaled):
    """take the log-sigmoid of β · margin → the log-sigmoid: log σ(β · margin)"""
    return torch.nn.functional.logsigmoid(scaled)


def losses(log_probabilities):
    """negate the log-sigmoid → the losses of the pairs, (batch,)"""
    return -log_probabilities


def loss(losses):
    """take the mean over the pairs → the loss: the mean over the pairs"""
    return losses.mean()


STEPS = InSteps(chosen_gain, rejected_gain, margin, scaled, log_probabilities, losses, loss, reference=dpo_loss)


NAMES = ("chosen", "rejected", "reference_chosen", "reference_rejected")


def dpo_loss_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(batch, beta, shows, *, spread=3.0, digits=None):
        """Draw distinct log-probabilities of whole answers."""
        drawn = {name: -1 - spread * torch.rand(batch, generator=rng) for name in NAMES}
        if digits is not None:  # rounded, so that the case is easy to do by hand
            drawn = {name: value.round(decimals=digits) for name, value in drawn.items()}
        return Case({**drawn, "beta": beta}, shows)

    same = case(3, 0.5, "a model that is its own reference")
    same.inputs["reference_chosen"].copy_(same.inputs["chosen"])
    same.inputs["reference_rejected"].copy_(same.inputs["rejected"])
    wrong = case(2, 2.0, "a pair whose wrong answer the model prefers by far")
    wrong.inputs["rejected"][0] = -0.5
    wrong.inputs["chosen"][0] = -300.0
    return [
        case(1, 1.0, "one pair, β of 1", digits=1),
        case(1, 0.1, "one pair, β of 0.1", digits=1),
        same,
        case(3, uniform(rng, 0.3, 0.7), "3 pairs", digits=1),
        wrong,
        case(4, 2.0, "4 pairs, β of 2"),
        case(13, 0.1, "13 long answers", spread=60.0),
    ]


def guarded(tiny):
    """Return the answer that adds a tiny number before taking the logarithm."""
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
        summary="you compare probabilities instead of log-probabilities",
        message=(
            "{summary}. The probability of a long answer, such as e⁻⁶⁰, is too small to compare. Which operation on "
            "two log-probabilities gives the logarithm of the ratio?"
        ),
        hints=["How large is e⁻⁶⁰, and what is left of the difference of two such numbers?"],
    ),
    Mistake(
        "ratio_of_log_probabilities",
        STEPS.but(
            chosen_gain=lambda chosen, reference_chosen: chosen / reference_chosen,
            rejected_gain=lambda rejected, reference_rejected: rejected / reference_rejected,
        ),
        summary="you divide log-probabilities by each other",
        message=(
            "{summary}, so your ratio *falls* when the chosen answer becomes likelier. Which operation on log p and "
            "log q gives log(p / q)?"
        ),
        hints=["With log-probabilities of −2 and −4, which answer is likelier, and by which factor?"],
    ),
    Mistake(
        "no_reference",
        STEPS.but(margin=lambda chosen, rejected: chosen - rejected),
        summary="your loss doesn't depend on the reference model",
        message=(
            "{summary}, so a model that already preferred the chosen answer before training gets credit for it. What "
            "should you compare each log-probability with?"
        ),
        hints=["By how much did each answer gain over the reference, if the model *is* the reference?"],
    ),
    Mistake(
        "hinge",
        STEPS.but(losses=lambda scaled: (1 - scaled).relu()),
        STEPS.but(losses=lambda scaled: (-scaled).relu()).attempt,
        summary="you use a hinge loss, which is exactly 0 above some margin",
        message="{summary}, so a pair above that margin has no gradient. The loss of DPO is −log σ(β · margin).",
        hints=["What should the loss be at a margin of 0, and what is yours?"],
    ),
    Mistake(
        "log_of_the_sigmoid",
        STEPS.but(log_probabilities=lambda scaled: scaled.sigmoid().log()),
        STEPS.but(log_probabilities=lambda scaled: -(1 + (-scaled).exp()).log()),
        summary="you compute the log-sigmoid in several steps",
        message=(
            "{summary}. For β · margin = −600, σ = e⁻⁶⁰⁰ is too small for float32, and your loss becomes infinite. "
            "Which PyTorch function computes log σ directly?"
        ),
        hints=["In a new cell, try `torch.tensor(-300.0).sigmoid().log()`. What should it be?"],
    ),
    Mistake(
        "log_of_the_sigmoid_plus_epsilon",
        guarded(1e-9),
        *[guarded(tiny).attempt for tiny in (1e-6, 1e-7, 1e-8, 1e-10, 1e-12)],
        summary="you add ε to the sigmoid before taking the logarithm",
        message=(
            "{summary}, which caps the loss: with ε = 10⁻⁹, the loss never exceeds 20.8. Which PyTorch function "
            "computes log σ directly?"
        ),
        hints=["In a new cell, try `torch.tensor(-300.0).sigmoid().log()`. What should it be?"],
    ),
    Mistake(
        "without_the_gradient",
        STEPS.but(loss=lambda loss: loss.detach()).attempt,
        STEPS.but(loss=lambda loss: loss.item()).attempt,
        message="Your number is right, but you detach it from the log-probabilities, so no gradient reaches the model.",
        hints=[
            "Which line of your code returns something that `.backward()` can't follow?",
            "`.item()`, `.detach()` and `torch.no_grad()` cut the path of the gradient.",
            "Leave them out, and return the tensor itself.",
        ],
    ),
]


EXERCISE = Exercise(
    reference=dpo_loss,
    steps=STEPS,
    cases=dpo_loss_cases,
    points=2,
    verified="Your loss falls when the chosen answer gains more over the reference than the rejected one, and it stays "
    "finite however far apart they are.",
    hints=[
        "For each of the two answers, how much larger is its log-probability than under the reference?",
        "The margin is the gain of the chosen answer minus the gain of the rejected one. The larger it is, the smaller "
        "the loss should be.",
        "The loss of a pair is −log σ(β · margin), and the loss of the batch is the mean.",
        "`torch.nn.functional.logsigmoid` computes log σ without overflow.",
    ],
    messages={
        "operator_rejected_gain: (rejected) + (reference_rejected)": Wording(
            "{summary}, so a model that is its own reference has a margin other than 0. A minus sign in front of "
            "parentheses flips the sign of each term inside.",
            summary="you give `reference_rejected` the wrong sign",
        ),
        "values_exchanged_reference_chosen": Wording(
            (
                "{summary}, so a pair that the reference already ranks correctly lowers the loss before any training. "
                "Check the sign of the reference's margin and the order of its two log-probabilities."
            ),
            summary="you add the reference model's margin instead of subtracting it",
            hints=["If the model is its own reference, what should the margin be? What is it in your code?"],
        ),
        "order_margin: (rejected_gain) - (chosen_gain)": Wording(
            "{summary}, so the loss falls when the *rejected* answer gains more. Which answer should gain more?",
            summary="you subtract the gain of the chosen answer from the gain of the rejected answer",
        ),
        "operator_margin: (chosen_gain) + (rejected_gain)": Wording(
            "{summary}, so the loss also falls when the *rejected* answer becomes likelier. Which sign should its "
            "gain have?",
            summary="you add the gain of the rejected answer instead of subtracting it",
        ),
        "moved_loss: scaled": Wording(
            "{summary}, so one pair with a large margin can hide a pair that is wrong. What should you average "
            "instead?",
            summary="you average the margins of the pairs before you take the log-sigmoid",
        ),
        "sibling_loss: losses.sum()": Wording(
            "{summary}, so the loss grows with the number of pairs. What should you divide it by?",
            summary="you add up the losses of the pairs instead of averaging them",
        ),
        "inverse_beta": Wording(
            "{summary}: with β = 0.1, the margin becomes ten times as large instead of a tenth.",
            summary="you divide the margin by β instead of multiplying it",
        ),
        "left_out_scaled: margin": Wording(
            "{summary}, so your loss is the same for β = 0.1 and β = 1. What should β scale?",
            summary="you never multiply the margin by β",
        ),
        "call_left_out_log_probabilities": Wording(
            "{summary}, so the loss of a pair is −β · margin, which has no lower limit. Which function keeps the loss "
            "above 0?",
            summary="you never take the log-sigmoid",
        ),
        "wrong_input_losses: margin": Wording(
            "{summary}, without a log-sigmoid, so the loss has no lower limit. What should you negate?",
            summary="you use minus the margin as the loss of a pair",
        ),
        "sign_losses": Wording(
            "{summary}, so training makes the margin as small as possible. A log-sigmoid is never above 0. Which sign "
            "should the loss have?",
            summary="your loss has the wrong sign",
        ),
        "moved_log_probabilities: margin": Wording(
            "{summary}. With β = 0.1, a pair with a margin of 20 then gets almost no gradient. Should β scale the "
            "loss or the argument of the sigmoid?",
            summary="you multiply the loss by β instead of multiplying the margin by β",
        ),
    },
    mistakes=MISTAKES,
)
