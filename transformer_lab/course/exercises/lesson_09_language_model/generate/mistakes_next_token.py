"""What goes wrong between the model and the next column."""

from transformer_lab.course.exercise import Mistake
from transformer_lab.course.exercises.lesson_09_language_model.generate.answer import STEPS

MISTAKES = [
    Mistake(
        "first_position",
        [STEPS.but(next_logits=lambda: lambda logits: logits[:, 0])],
        does="the logits are those of the first position",
        says="The logits are those of the *first* position, which sees nothing but the first token. Look at the index.",
        hints=[
            "Which position has seen all the tokens?",
            "In the logits, (batch, n, vocab_size), the second axis is that of the positions.",
            "`logits[:, -1]`.",
        ],
    ),
    Mistake(
        "greedy",
        [STEPS.but(next_tokens=lambda: lambda next_logits: next_logits.argmax(dim=-1))],
        does="the likeliest token is taken; `sample` is not used",
        says="The likeliest token is taken in every round. How to choose is the argument `sample`, which is not used.",
        hints=[
            "Where does the argument `sample` occur in the code?",
            "`sample` takes logits of shape (batch, vocab_size) and returns ids of shape (batch).",
            "`sample(logits[:, -1])`.",
        ],
    ),
]
