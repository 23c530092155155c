"""What goes wrong in a beam search."""

from transformer_lab.course.exercise import Mistake
from transformer_lab.course.exercises.lesson_10_inference.beam_search.answer import STEPS

MISTAKES = [
    Mistake(
        "logits_added_up",
        [STEPS.but(step_scores=lambda: lambda logits: logits.tolist())],
        does="logits are added up, not log-probabilities",
        says="Logits are added up. Those of two texts cannot be compared: each row of logits has an offset of its own.",
        hints=[
            "If 5 is added to all logits of a position, do its probabilities change? Does the sum?",
            "What makes log-probabilities of logits?",
            "`logits.log_softmax(dim=-1)`.",
        ],
    ),
    Mistake(
        "finished_texts_lost",
        [STEPS.but(kept=lambda: lambda text, total, next_scores: [])],
        does="finished texts drop out of the beam",
        says="Texts that have ended drop out, and only the unfinished ones are left to choose from.",
        hints=[
            "What should be a candidate in a round besides the longer texts?",
            "A finished text may still be the best one in the end.",
            "A finished text is a candidate as it is, with the log-probability that it has.",
        ],
    ),
    Mistake(
        "finished_texts_go_on",
        [STEPS.but(finished=lambda: lambda text: False)],
        does="texts are extended after their eos",
        says="Texts go on after their eos, and what follows changes their log-probability.",
        hints=[
            "What does the model say after eos, and should it be asked?",
            "A text that ends with eos is finished.",
            "A finished text is a candidate as it is, with the log-probability that it has.",
        ],
    ),
    Mistake(
        "no_length_penalty",
        [STEPS.but(scores=lambda: lambda text, total: total)],
        does="length makes no difference to the score",
        says="Length makes no difference to which text wins in the end: the log-probabilities alone decide.",
        hints=[
            "Does the result change with `length_penalty`?",
            "A score is a log-probability, divided by a number that grows with the length of *this* text.",
            "`total / ((5 + len(text)) / 6) ** length_penalty`.",
        ],
    ),
]
