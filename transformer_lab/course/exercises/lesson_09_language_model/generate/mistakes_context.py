"""What goes wrong with what the model is shown, and with what is returned."""

from transformer_lab.course.exercise import Mistake
from transformer_lab.course.exercises.lesson_09_language_model.generate.answer import STEPS

MISTAKES = [
    Mistake(
        "never_crops",
        [STEPS.but(shown=lambda: lambda tokens: tokens)],
        does="the model is shown the whole text, however long it is",
        says=(
            "The model is shown the whole text. Once that is longer than the context window, it is more than the model "
            "can read."
        ),
        hints=[
            "How many tokens does the model see when a text of 6 tokens is continued with a context_length of 3?",
            "In each round, show the model the end of the text only.",
            "`model(tokens[:, -context_length:])`.",
        ],
    ),
    Mistake(
        "shows_the_beginning",
        [STEPS.but(shown=lambda context_length: lambda tokens: tokens[:, :context_length])],
        does="the model is shown the *first* tokens of the text, not the last",
        says=(
            "Once the text is longer than the context window, the model is shown its *beginning*, and never sees what "
            "was generated last."
        ),
        hints=[
            "Which tokens matter most for the next one?",
            "`[:, :3]` takes the first 3 columns. Which slice takes the last 3?",
            "`tokens[:, -context_length:]`.",
        ],
    ),
]
