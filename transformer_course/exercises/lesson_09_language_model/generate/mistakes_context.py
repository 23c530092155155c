"""What goes wrong with what the model is shown, and with what is returned."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_09_language_model.generate.answer import STEPS

SLICE = "`model(tokens[:, -context_length:])`."


def crops_once(model, tokens, max_new_tokens, context_length, sample):
    """Crop the prompt before the loop, and let what the model is shown grow from there."""
    window = tokens[:, -context_length:]
    for _ in range(max_new_tokens):
        next_tokens = sample(model(window)[:, -1])[:, None]
        window, tokens = torch.cat([window, next_tokens], dim=1), torch.cat([tokens, next_tokens], dim=1)
    return tokens


def crops_once_and_returns_that(model, tokens, max_new_tokens, context_length, sample):
    """Crop the prompt before the loop, and forget the rest of it."""
    tokens = tokens[:, -context_length:]
    for _ in range(max_new_tokens):
        tokens = torch.cat([tokens, sample(model(tokens)[:, -1])[:, None]], dim=1)
    return tokens


def slides_from_the_beginning(model, tokens, max_new_tokens, context_length, sample):
    """Move a window over the text from its beginning on, a position in each round."""
    for i in range(max_new_tokens):
        tokens = torch.cat([tokens, sample(model(tokens[:, i : i + context_length])[:, -1])[:, None]], dim=1)
    return tokens


def stops_where_the_window_is_full(model, tokens, max_new_tokens, context_length, sample):
    """Stop as soon as the text is as long as the context window."""
    for _ in range(max_new_tokens):
        if tokens.shape[1] >= context_length:
            break
        tokens = torch.cat([tokens, sample(model(tokens)[:, -1])[:, None]], dim=1)
    return tokens


def stops_at_token_0(model, tokens, max_new_tokens, context_length, sample):
    """Stop when all texts have got token 0, as if it were an eos."""
    for _ in range(max_new_tokens):
        next_tokens = sample(model(tokens[:, -context_length:])[:, -1])
        tokens = torch.cat([tokens, next_tokens[:, None]], dim=1)
        if (next_tokens == 0).all():
            break
    return tokens


def shows_what_is_still_empty(model, tokens, max_new_tokens, context_length, sample):
    """Make room for all new tokens at once, and show the model the end of that."""
    n = tokens.shape[1]
    text = torch.cat([tokens, tokens.new_zeros(len(tokens), max_new_tokens)], dim=1)
    for i in range(max_new_tokens):
        text[:, n + i] = sample(model(text[:, -context_length:])[:, -1])
    return text


def shows_the_window_only_once(model, tokens, max_new_tokens, context_length, sample):
    """Show the model the prompt first, and then the new token alone."""
    shown = tokens[:, -context_length:]
    for _ in range(max_new_tokens):
        shown = sample(model(shown)[:, -1])[:, None]
        tokens = torch.cat([tokens, shown], dim=1)
    return tokens


def writes_into_the_prompt(model, tokens, max_new_tokens, context_length, sample):
    """Move the prompt to the left in its own memory, and write the new token at its end."""
    for _ in range(max_new_tokens):
        next_tokens = sample(model(tokens[:, -context_length:])[:, -1])
        tokens[:, :-1] = tokens[:, 1:].clone()
        tokens[:, -1] = next_tokens
    return tokens


def a_window_of(width):
    """Make the step that shows the model another number of its last tokens."""
    return lambda context_length: lambda tokens: tokens[:, max(tokens.shape[1] - width(context_length), 0) :]


MISTAKES = [
    Mistake(
        "never_crops",
        STEPS.but(shown=lambda: lambda tokens: tokens),
        does="the model is shown the whole text, however long it is",
    ),
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
        "crops_the_batch",
        STEPS.but(shown=lambda context_length: lambda tokens: tokens[-context_length:]),
        STEPS.but(
            shown=lambda context_length: lambda tokens: tokens[-context_length:],
            extended=lambda context_length: (
                lambda tokens, next_tokens: torch.cat([tokens[-context_length:], next_tokens[:, None]], dim=1)
            ),
        ).attempt,
        does="the slice picks texts of the batch, not positions",
        says="The slice runs along the batch: it picks the last *texts*, each in its full length.",
        hints=["Which axis of `tokens` are the positions?"],
    ),
    Mistake(
        "drops_the_first_tokens",
        STEPS.but(shown=lambda context_length: lambda tokens: tokens[:, context_length:]),
        does="the slice leaves out the first `context_length` tokens",
    ),
    Mistake(
        "drops_the_last_tokens",
        STEPS.but(shown=lambda context_length: lambda tokens: tokens[:, :-context_length]),
        does="the slice leaves out the *last* `context_length` tokens",
        says="The slice ends where it should begin: it leaves out just the last `context_length` tokens.",
        hints=["What is `tokens[:, :-2]` of a text of 3 tokens?"],
    ),
    Mistake(
        "crops_to_another_length",
        STEPS.but(shown=lambda context_length: lambda tokens: tokens[:, -context_length + 1 :]),
        STEPS.but(shown=lambda context_length: lambda tokens: tokens[:, -context_length - 1 :]),
        STEPS.but(shown=a_window_of(lambda context_length: max(context_length - 1, 1))),
        STEPS.but(shown=lambda context_length: lambda tokens: tokens[:, -context_length:-1]),
        does="the model is shown one token more or fewer than `context_length`",
        says="The model is shown one token more or fewer than the context window holds. Look at the slice.",
        hints=["What is `torch.arange(9)[-4:]`, and how many are that?"],
    ),
    Mistake(
        "shows_the_last_token_only",
        STEPS.but(shown=lambda: lambda tokens: tokens[:, -1:]),
        does="the model is shown the last token only",
    ),
    Mistake(
        "shows_the_prompt_only",
        STEPS.but(shown=lambda tokens, context_length: lambda so_far: tokens[:, -context_length:]),
        STEPS.but(shown=lambda tokens: lambda so_far: tokens).attempt,
        does="the model is shown the prompt in every round, not what has been generated",
        says="In every round the model is shown the prompt alone: what it has generated since never reaches it.",
        hints=["How does what is shown in round 2 differ from what is shown in round 1?"],
    ),
    Mistake(
        "shows_the_window_only_once",
        shows_the_window_only_once,
        says=(
            "From the second round on the model is shown the new token alone. That would do for a model that remembers "
            "what it has read, and this one does not."
        ),
        hints=[
            "What does the model see in the second round?",
            "The new token is appended to the text, and the end of the text is shown.",
            SLICE,
        ],
    ),
    Mistake(
        "crops_once",
        crops_once,
        says=(
            "Only the prompt is cropped, before the loop. What the model is shown grows from round to round, and soon "
            "exceeds the context window."
        ),
        hints=[
            "How many tokens does the model see in round 3?",
            "The text grows in every round, so it is cropped in every round.",
            SLICE,
        ],
    ),
    Mistake(
        "slides_from_the_beginning",
        slides_from_the_beginning,
        says=(
            "The window begins one position later in every round, whether the text is long or short. It should end "
            "where the text ends."
        ),
        hints=[
            "Which tokens does the model see in round 2, of a text of 3 tokens and a context window of 8?",
            "Where the text fits into the window, the model sees all of it.",
            SLICE,
        ],
    ),
    Mistake(
        "stops_where_the_window_is_full",
        stops_where_the_window_is_full,
        says=(
            "Generation stops as soon as the text is as long as the context window. A text may be longer: the model "
            "sees the end of it."
        ),
        hints=[
            "How many new tokens does a prompt of 6 tokens get, with a context window of 3?",
            "`context_length` limits what the model sees, not how long the text gets.",
            SLICE,
        ],
    ),
    Mistake(
        "stops_at_token_0",
        stops_at_token_0,
        says=(
            "Generation stops where all texts have got token 0, as if it ended them. Nothing here says that a token "
            "ends a text: every prompt gets all its new tokens."
        ),
        hints=[
            "How many tokens come back where token 0 is sampled at once?",
            "Which argument says how many new tokens there are?",
            "Go round `max_new_tokens` times, whatever is sampled.",
        ],
    ),
    Mistake(
        "shows_what_is_still_empty",
        shows_what_is_still_empty,
        says=(
            "Room is made for all new tokens at once, and the model is shown the end of it, which is still empty. It "
            "should be shown what has been generated so far."
        ),
        hints=[
            "What is the last token that the model is shown in the first round?",
            "The text that it is shown ends with the newest token.",
            "`text[:, max(0, end - context_length) : end]`, or append to the text in each round.",
        ],
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
        crops_once_and_returns_that,
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
        "only_the_last_token",
        STEPS.but(output=lambda text: text[:, -1]),
        STEPS.but(output=lambda text: text[:, -1:]).attempt,
        does="only the last token is returned",
        says="Only the last token of each text comes back. The whole texts are asked for.",
        hints=["What shape is asked for?"],
    ),
    Mistake(
        "cuts_the_text_off",
        STEPS.but(output=lambda text: text[:, :-1]),
        STEPS.but(output=lambda text: text[:, 1:]),
        does="the first or the last column is cut off what is returned",
        says="A column is cut off what is returned. Here there is no bos to leave out: the whole text is asked for.",
        hints=["With `max_new_tokens=0`, what should come back?"],
    ),
    Mistake(
        "another_number_of_rounds",
        STEPS.but(n_rounds=lambda max_new_tokens: max_new_tokens + 1),
        STEPS.but(n_rounds=lambda max_new_tokens: max_new_tokens - 1),
        does="there is one round too many or too few",
    ),
    Mistake(
        "counts_the_prompt_as_new",
        STEPS.but(n_rounds=lambda max_new_tokens, tokens: max(max_new_tokens - tokens.shape[1], 0)),
        STEPS.but(n_rounds=lambda context_length, tokens: max(context_length - tokens.shape[1], 0)),
        does="the length of the prompt decides how many tokens are added",
        says=("The longer the prompt, the fewer tokens are added. `max_new_tokens` counts only the *new* ones."),
        hints=["A prompt of 6 tokens and `max_new_tokens=5`: how many columns should come back?"],
    ),
    Mistake(
        "generates_as_many_as_the_window_holds",
        STEPS.but(n_rounds=lambda context_length: context_length),
        does="there are `context_length` rounds, not `max_new_tokens`",
    ),
    Mistake(
        "returns_inside_the_loop",
        STEPS.but(n_rounds=lambda max_new_tokens: min(max_new_tokens, 1)),
        STEPS.but(
            n_rounds=lambda max_new_tokens: min(max_new_tokens, 1),
            output=lambda text, max_new_tokens: text if max_new_tokens else None,
        ),
        does="the loop ends after its first round",
        hints=["With `max_new_tokens=4`, how many columns are added?"],
    ),
    Mistake(
        "writes_into_the_prompt",
        writes_into_the_prompt,
        says="The tokens move to the left within the prompt, which loses its beginning, also for the caller.",
        hints=[
            "A prompt of 3 tokens and 4 new ones: how many columns should come back?",
            "What is `tokens` outside of the function afterwards?",
            "`tokens = torch.cat([tokens, next_tokens[:, None]], dim=1)` makes a new, longer tensor.",
        ],
    ),
]
