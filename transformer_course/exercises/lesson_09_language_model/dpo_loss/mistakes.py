"""What goes wrong in direct preference optimisation."""

from torch.nn import functional

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_09_language_model.dpo_loss.answer import STEPS


def guarded(tiny):
    """Make the step that adds a tiny number before it takes the logarithm."""
    return STEPS.but(log_probabilities=lambda scaled: (scaled.sigmoid() + tiny).log())


MISTAKES = [
    Mistake(
        "forgets_the_minus",
        STEPS.but(losses=lambda log_probabilities: log_probabilities),
        does="the minus of −log σ is missing",
    ),
    Mistake(
        "chosen_and_rejected_exchanged",
        STEPS.but(margin=lambda chosen_gain, rejected_gain: rejected_gain - chosen_gain),
        does="the gain of the chosen answer is subtracted from that of the rejected one",
    ),
    Mistake(
        "adds_the_gains",
        STEPS.but(margin=lambda chosen_gain, rejected_gain: chosen_gain + rejected_gain),
        does="the gains of the two answers are added, not subtracted",
    ),
    Mistake(
        "only_the_chosen_answer",
        STEPS.but(margin=lambda chosen_gain: chosen_gain),
        STEPS.but(margin=lambda rejected_gain: -rejected_gain),
        STEPS.but(margin=lambda rejected_gain: rejected_gain).attempt,
        does="only one of the two answers has a part in the margin",
    ),
    Mistake(
        "without_the_reference",
        STEPS.but(
            chosen_gain=lambda chosen: chosen,
            rejected_gain=lambda rejected: rejected,
        ),
        does="the reference's log-probabilities are not used",
        says=(
            "The reference is not used: a model that prefers the chosen answer from the start is rewarded for what it "
            "never learned."
        ),
        hints=["For a model that is its own reference, the loss should be log 2."],
    ),
    Mistake(
        "reference_of_one_answer_only",
        STEPS.but(rejected_gain=lambda rejected: rejected),
        STEPS.but(chosen_gain=lambda chosen: chosen),
        does="one of the two answers is not compared with the reference",
    ),
    Mistake(
        "reference_added",
        STEPS.but(
            chosen_gain=lambda chosen, reference_chosen: chosen + reference_chosen,
            rejected_gain=lambda rejected, reference_rejected: rejected + reference_rejected,
        ),
        STEPS.but(chosen_gain=lambda chosen, reference_chosen: chosen + reference_chosen),
        STEPS.but(rejected_gain=lambda rejected, reference_rejected: rejected + reference_rejected),
        does="a log-probability of the reference has the wrong sign",
    ),
    Mistake(
        "gain_the_wrong_way_round",
        STEPS.but(chosen_gain=lambda chosen, reference_chosen: reference_chosen - chosen),
        does="the gain of the chosen answer is the reference minus the model",
    ),
    Mistake(
        "ratio_of_log_probabilities",
        STEPS.but(
            chosen_gain=lambda chosen, reference_chosen: chosen / reference_chosen,
            rejected_gain=lambda rejected, reference_rejected: rejected / reference_rejected,
        ),
        STEPS.but(
            chosen_gain=lambda chosen, reference_chosen: (chosen / reference_chosen).log(),
            rejected_gain=lambda rejected, reference_rejected: (rejected / reference_rejected).log(),
        ),
        does="log-probabilities are divided by each other",
        says="{does}. The logarithm of a ratio is a *difference* of logarithms.",
        hints=["log(a / b), from log a and log b: how?"],
    ),
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
        does="`exp` turns log-probabilities into probabilities before they are compared",
        says="Probabilities are compared, by `exp`. The margin is made of *log*-probabilities, as they are given.",
        hints=["How large is e^(−60), and what is left of a difference of two such numbers?"],
    ),
    Mistake(
        "beta_outside",
        STEPS.but(
            scaled=lambda margin: margin,
            log_probabilities=lambda log_probabilities, margin, beta: beta * functional.logsigmoid(margin),
        ),
        does="the loss is multiplied by β, and the margin is not",
        says="β multiplies the whole loss. It belongs inside the sigmoid, where it says how much a margin counts.",
        hints=["With equal gains the loss should be log 2, whatever β is."],
    ),
    Mistake(
        "no_beta",
        STEPS.but(scaled=lambda margin: margin),
        does="the margin is not multiplied by β",
    ),
    Mistake(
        "beta_on_one_side",
        STEPS.but(scaled=lambda chosen_gain, rejected_gain, beta: beta * chosen_gain - rejected_gain),
        STEPS.but(scaled=lambda chosen_gain, rejected_gain, beta: chosen_gain - beta * rejected_gain),
        does="the gain of one answer only is multiplied by β",
        says="β multiplies the gain of one answer only. Look at the brackets.",
        hints=["If both gains are 1, what is the margin?"],
    ),
    Mistake(
        "no_sigmoid",
        STEPS.but(log_probabilities=lambda scaled: scaled),
        does="the margin itself is used; no sigmoid and no logarithm is taken of it",
    ),
    Mistake(
        "hinge",
        STEPS.but(losses=lambda scaled: (1 - scaled).relu()),
        STEPS.but(losses=lambda scaled: (-scaled).relu()).attempt,
        does="the loss of a pair is a straight line that is cut off at 0",
        says="{does}. Here it is −log σ of β times the margin.",
        hints=["What should the loss be for a margin of 0?"],
    ),
    Mistake(
        "log_of_the_sigmoid",
        STEPS.but(log_probabilities=lambda scaled: scaled.sigmoid().log()),
        STEPS.but(log_probabilities=lambda scaled: -(1 + (-scaled).exp()).log()),
        guarded(1e-9),
        *[guarded(tiny).attempt for tiny in (1e-6, 1e-7, 1e-8, 1e-10, 1e-12)],
        does="the logarithm is taken of a sigmoid that has become 0 where the margin is far below 0",
        says=(
            "Where the margin is far below 0, the sigmoid becomes 0 before its logarithm is taken, and the loss is "
            "infinite, or is cut off."
        ),
        hints=["In a new cell: `torch.tensor(-300.0).sigmoid().log()`."],
    ),
    Mistake(
        "mean_before_the_sigmoid",
        STEPS.but(scaled=lambda scaled: scaled.mean()),
        does="the mean over the pairs is taken of the margins, before the sigmoid",
        says="The mean is taken of the margins, before the sigmoid. Each pair has a loss of its own.",
        hints=["Margins of 300 and −300: what is the loss of each, and what comes out here?"],
    ),
    Mistake(
        "adds_up",
        STEPS.but(loss=lambda losses: losses.sum()),
        does="the losses of the pairs are added up, not averaged",
    ),
    Mistake(
        "a_loss_for_each_pair",
        STEPS.but(loss=lambda losses: losses),
        does="there is a loss for each pair, and they are not put together",
    ),
    Mistake(
        "without_the_gradient",
        STEPS.but(loss=lambda loss: loss.detach()).attempt,
        STEPS.but(loss=lambda loss: loss.item()).attempt,
        says="The number is right, but it is cut off from the log-probabilities: no gradient gets back to the model.",
        hints=[
            "What does `.backward()` need?",
            "`.item()`, `.detach()` and `torch.no_grad()` end the path that gradients take.",
            "Leave them out, and return the tensor itself.",
        ],
    ),
]
