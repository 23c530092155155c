"""What goes wrong in a round of generation, and with what is returned."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_09_language_model.generate.answer import STEPS

MISTAKES = [
    Mistake(
        "shows_the_beginning",
        STEPS.but(shown=lambda context_length: lambda tokens: tokens[:, :context_length]),
        does="the model is shown the *first* tokens of the text, not the last",
        says=(
            "Once the text is longer than the context window, the model is shown its *beginning*, and never sees what "
            "was generated last."
        ),
        hints=["Which tokens matter most for the next one?"],
    ),
    Mistake(
        "shows_the_prompt_only",
        STEPS.but(shown=lambda tokens, context_length: lambda so_far: tokens[:, -context_length:]),
        does="the model is shown the prompt in every round, not what has been generated",
        says="In every round the model is shown the prompt alone: what it has generated since never reaches it.",
        hints=["How does what is shown in round 2 differ from what is shown in round 1?"],
    ),
    Mistake(
        "crops_the_text_itself",
        STEPS.but(
            extended=lambda context_length: (
                lambda tokens, next_tokens: torch.cat([tokens[:, -context_length:], next_tokens[:, None]], dim=1)
            )
        ),
        STEPS.but(output=lambda text, context_length: text[:, -context_length:]),
        STEPS.but(tokens=lambda tokens, context_length: tokens[:, -context_length:]),
        STEPS.but(
            extended=lambda context_length: (
                lambda tokens, next_tokens: torch.cat([tokens, next_tokens[:, None]], dim=1)[:, -context_length:]
            )
        ).attempt,
        does="the text itself is cropped, so that its beginning is lost",
        says=(
            "The text itself is cropped, so its beginning is missing in what is returned. Only what the *model* is "
            "shown should be cropped."
        ),
        hints=["A prompt of 6 tokens and 5 new ones: how many come back? There should be 11."],
    ),
    Mistake(
        "only_the_new_tokens",
        STEPS.but(output=lambda text, tokens: text[:, tokens.shape[1] :]),
        does="the prompt is left out of what is returned",
        says="Only the new tokens come back. The prompt is part of the text that is asked for.",
        hints=["A prompt of 3 tokens and 4 new ones: how many should come back?"],
    ),
    Mistake(
        "counts_the_prompt_as_new",
        STEPS.but(n_rounds=lambda max_new_tokens, tokens: max(max_new_tokens - tokens.shape[1], 0)),
        does="the length of the prompt decides how many tokens are added",
        says="The longer the prompt, the fewer tokens are added. `max_new_tokens` counts only the *new* ones.",
    ),
    Mistake(
        "returns_inside_the_loop",
        STEPS.but(
            n_rounds=lambda max_new_tokens: min(max_new_tokens, 1),
            output=lambda text, max_new_tokens: text if max_new_tokens else None,
        ),
        does="the loop ends after its first round",
        hints=["With `max_new_tokens=4`, how many columns are added?"],
    ),
    Mistake(
        "probabilities",
        STEPS.but(next_logits=lambda: lambda logits: logits[:, -1].softmax(dim=-1)),
        does="`sample` gets probabilities, not logits",
        says="`sample` gets probabilities. It takes logits, and takes the softmax itself.",
        hints=["What does the lesson say that `sample` takes?"],
    ),
    Mistake(
        "sample_not_used",
        STEPS.but(next_tokens=lambda: lambda next_logits: next_logits.argmax(dim=-1)),
        STEPS.but(
            next_tokens=lambda: lambda next_logits: torch.multinomial(next_logits.softmax(dim=-1), 1)[:, 0]
        ).attempt,
        does="`sample` is not used",
        says="The likeliest token is taken, or one is drawn here. How to choose is the argument `sample`.",
        hints=["Where does the argument `sample` occur in the code?"],
    ),
]
