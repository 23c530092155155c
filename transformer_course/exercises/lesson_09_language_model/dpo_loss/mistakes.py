"""What goes wrong in direct preference optimisation."""

from torch.nn import functional

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_09_language_model.dpo_loss.answer import STEPS

GAINS = "`(chosen - reference_chosen) - (rejected - reference_rejected)`."
LOG_SIGMOID = "`torch.nn.functional.logsigmoid(…)`."


def guarded(tiny):
    """Make the step that adds a tiny number before it takes the logarithm."""
    return STEPS.but(log_probabilities=lambda scaled: (scaled.sigmoid() + tiny).log())


MISTAKES = [
    Mistake(
        "forgets_the_minus",
        STEPS.but(losses=lambda log_probabilities: log_probabilities),
        does="the minus of −log σ is missing",
        says="The minus is missing: the smaller this loss, the *less* the chosen answer is preferred.",
        hints=[
            "A logarithm of a probability is never above 0. Should a loss be below it?",
            "Training makes the loss smaller. Which way does the probability of the chosen answer go then?",
            "A minus before the log-sigmoid.",
        ],
    ),
    Mistake(
        "chosen_and_rejected_exchanged",
        STEPS.but(margin=lambda chosen_gain, rejected_gain: rejected_gain - chosen_gain),
        does="the gain of the chosen answer is subtracted from that of the rejected one",
        says="The difference is taken the wrong way round: the loss falls as the *rejected* answer gets likelier.",
        hints=[
            "The margin should be large where the chosen answer gained much.",
            "Which of the two gains has the minus?",
            GAINS,
        ],
    ),
    Mistake(
        "adds_the_gains",
        STEPS.but(margin=lambda chosen_gain, rejected_gain: chosen_gain + rejected_gain),
        does="the gains of the two answers are added, not subtracted",
        says="The gains of the two answers are added: the loss falls as *either* of them gets likelier.",
        hints=[
            "What should become of the loss if the rejected answer gets likelier?",
            "The margin is the difference of the two gains.",
            GAINS,
        ],
    ),
    Mistake(
        "only_the_chosen_answer",
        STEPS.but(margin=lambda chosen_gain: chosen_gain),
        STEPS.but(margin=lambda rejected_gain: -rejected_gain),
        STEPS.but(margin=lambda rejected_gain: rejected_gain).attempt,
        does="only one of the two answers has a part in the margin",
        says="Only one of the two answers has a part in the loss. A preference is between two.",
        hints=[
            "Change the log-probability of the other answer. Should the loss stay the same?",
            "Each of the two answers has a gain; what counts is their difference.",
            GAINS,
        ],
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
        hints=[
            "For a model that is its own reference, the loss should be log 2.",
            "What counts is by how much each log-probability *grew*.",
            GAINS,
        ],
    ),
    Mistake(
        "reference_of_one_answer_only",
        STEPS.but(rejected_gain=lambda rejected: rejected),
        STEPS.but(chosen_gain=lambda chosen: chosen),
        does="one of the two answers is not compared with the reference",
        says="The reference is subtracted from one of the two answers only.",
        hints=[
            "For a model that is its own reference, the loss should be log 2.",
            "Each of the two answers has a gain over the reference.",
            GAINS,
        ],
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
        says=(
            "{does}, as where brackets are missing, or where the two of the reference are exchanged. Look at the signs "
            "of all four."
        ),
        hints=[
            "For a model that is its own reference, the loss should be log 2.",
            "What is 5 − (3 − 1), and what is 5 − 3 − 1?",
            GAINS,
        ],
    ),
    Mistake(
        "gain_the_wrong_way_round",
        STEPS.but(chosen_gain=lambda chosen, reference_chosen: reference_chosen - chosen),
        does="the gain of the chosen answer is the reference minus the model",
        says="The gain of the chosen answer is taken the wrong way round: the reference minus the model.",
        hints=[
            "A gain is positive if the model finds the answer likelier than the reference does.",
            "Both gains are the model minus the reference.",
            GAINS,
        ],
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
        hints=[
            "log(a / b), from log a and log b: how?",
            "The arguments are logarithms already.",
            GAINS,
        ],
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
        hints=[
            "How large is e^(−60), and what is left of a difference of two such numbers?",
            "In the formula, the logarithm of the ratio stands, not the ratio.",
            GAINS,
        ],
    ),
    Mistake(
        "logarithm_of_a_logarithm",
        STEPS.but(
            chosen=lambda chosen: chosen.log(),
            rejected=lambda rejected: rejected.log(),
            reference_chosen=lambda reference_chosen: reference_chosen.log(),
            reference_rejected=lambda reference_rejected: reference_rejected.log(),
        ),
        does="a logarithm is taken of the log-probabilities",
        says="A logarithm is taken of the arguments. They are log-probabilities already, all below 0, so it gives nan.",
        hints=[
            "What is `torch.tensor(-2.0).log()`?",
            "Which of the arguments are logarithms already?",
            GAINS,
        ],
    ),
    Mistake(
        "beta_outside",
        STEPS.but(
            scaled=lambda margin: margin,
            log_probabilities=lambda log_probabilities, margin, beta: beta * functional.logsigmoid(margin),
        ),
        does="the loss is multiplied by β, and the margin is not",
        says="β multiplies the whole loss. It belongs inside the sigmoid, where it says how much a margin counts.",
        hints=[
            "With equal gains the loss should be log 2, whatever β is.",
            "What does the sigmoid get?",
            "The log-sigmoid of `beta` times the margin.",
        ],
    ),
    Mistake(
        "no_beta",
        STEPS.but(scaled=lambda margin: margin),
        does="the margin is not multiplied by β",
        says="β is not used. It says how much a margin counts: how far the model may move away from the reference.",
        hints=[
            "Where does the argument `beta` occur in the code?",
            "What goes into the sigmoid is a margin times a number.",
            "`beta * margin`.",
        ],
    ),
    Mistake(
        "divided_by_beta",
        STEPS.but(scaled=lambda margin, beta: margin / beta),
        does="the margin is divided by β",
        says="{does}, as scores are by a temperature. Here it is multiplied.",
        hints=[
            "With β = 0.1, should a margin of 2 count as 20 or as 0.2?",
            "A small β lets the model move far before a margin is large enough.",
            "`beta * margin`.",
        ],
    ),
    Mistake(
        "beta_on_one_side",
        STEPS.but(scaled=lambda chosen_gain, rejected_gain, beta: beta * chosen_gain - rejected_gain),
        STEPS.but(scaled=lambda chosen_gain, rejected_gain, beta: chosen_gain - beta * rejected_gain),
        does="the gain of one answer only is multiplied by β",
        says="β multiplies the gain of one answer only. Look at the brackets.",
        hints=[
            "If both gains are 1, what is the margin?",
            "`*` binds more tightly than `-`.",
            "`beta * (… - …)`, with the whole margin in the brackets.",
        ],
    ),
    Mistake(
        "no_logarithm",
        STEPS.but(log_probabilities=lambda scaled: scaled.sigmoid()),
        does="no logarithm is taken of the sigmoid",
        says="The loss is −σ, not −log σ: a pair that is far wrong costs no more than one that is a little wrong.",
        hints=[
            "What should the loss be for a margin of −300? And of 0?",
            "The sigmoid gives a probability. A loss is minus its logarithm.",
            LOG_SIGMOID,
        ],
    ),
    Mistake(
        "no_sigmoid",
        STEPS.but(log_probabilities=lambda scaled: scaled),
        does="the margin itself is used; no sigmoid and no logarithm is taken of it",
        says="The loss is minus the margin itself: it falls without end, also for pairs that are right by far.",
        hints=[
            "What should the loss be for a margin of 0? And for a very large one?",
            "The sigmoid turns the margin into the probability that the chosen answer is preferred.",
            LOG_SIGMOID,
        ],
    ),
    Mistake(
        "hinge",
        STEPS.but(losses=lambda scaled: (1 - scaled).relu()),
        STEPS.but(losses=lambda scaled: (-scaled).relu()).attempt,
        does="the loss of a pair is a straight line that is cut off at 0",
        says="{does}. Here it is −log σ of β times the margin.",
        hints=[
            "What should the loss be for a margin of 0?",
            "The loss of a pair is made of a sigmoid and a logarithm.",
            LOG_SIGMOID,
        ],
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
        hints=[
            "In a new cell: `torch.tensor(-300.0).sigmoid().log()`.",
            "log σ(−300) is −300. Which function never forms e^300?",
            LOG_SIGMOID,
        ],
    ),
    Mistake(
        "mean_before_the_sigmoid",
        STEPS.but(scaled=lambda scaled: scaled.mean()),
        does="the mean over the pairs is taken of the margins, before the sigmoid",
        says="The mean is taken of the margins, before the sigmoid. Each pair has a loss of its own.",
        hints=[
            "Margins of 300 and −300: what is the loss of each, and what comes out here?",
            "First a loss for each pair, then their mean.",
            "`.mean()` at the very end.",
        ],
    ),
    Mistake(
        "adds_up",
        STEPS.but(loss=lambda losses: losses.sum()),
        does="the losses of the pairs are added up, not averaged",
        says="The losses of the pairs are added up. Their mean is asked for, which does not grow with the batch.",
        hints=[
            "What is the loss of 3 pairs that are all alike, compared with one of them?",
            "The mean over the pairs is asked for.",
            "`.mean()` in place of `.sum()`.",
        ],
    ),
    Mistake(
        "a_loss_for_each_pair",
        STEPS.but(loss=lambda losses: losses),
        does="there is a loss for each pair, and they are not put together",
        says="There is a loss for each pair. One number is asked for: their mean.",
        hints=[
            "What shape is asked for?",
            "All pairs count the same.",
            "`.mean()` at the very end.",
        ],
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
