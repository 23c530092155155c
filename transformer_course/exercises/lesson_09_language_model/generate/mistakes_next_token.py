"""What goes wrong between the model and the next column."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_09_language_model.generate.answer import STEPS

LAST = "`sample(logits[:, -1])`."


def of_one_text(form):
    """Make the step that takes the next token of the texts for that of one text."""
    return lambda sample: lambda next_logits: form(sample(next_logits))


def in_train_mode(model, tokens, max_new_tokens, context_length, sample):
    """Generate in train mode, and leave the model there."""
    model.train()
    for _ in range(max_new_tokens):
        tokens = torch.cat([tokens, sample(model(tokens[:, -context_length:])[:, -1])[:, None]], dim=1)
    return tokens


MISTAKES = [
    Mistake(
        "first_position",
        STEPS.but(next_logits=lambda: lambda logits: logits[:, 0]),
        does="the logits are those of the first position",
    ),
    Mistake(
        "position_before_the_last",
        STEPS.but(next_logits=lambda: lambda logits: logits[:, max(logits.shape[1] - 2, 0)]),
        does="the logits are those of the position before the last",
        says="The logits are those of the position *before* the last. They predict a token that is there already.",
        hints=["Which position predicts the token that comes next?"],
    ),
    Mistake(
        "last_text",
        STEPS.but(next_logits=lambda: lambda logits: logits[-1]),
        does="the logits are those of the last *text*, at all its positions",
        says="The last *text* of the batch is picked, with all its positions. It should be the last position of each.",
        hints=["The logits have the shape (batch, n, vocab_size). Which axis does `[-1]` cut?"],
    ),
    Mistake(
        "mean_over_the_positions",
        STEPS.but(next_logits=lambda: lambda logits: logits.mean(dim=1)),
        STEPS.but(next_logits=lambda: lambda logits: logits.sum(dim=1)),
        does="the logits of all positions are put together",
        says="{does}. Each position predicts the token after *it*.",
        hints=["What does the first position predict?"],
    ),
    Mistake(
        "all_positions",
        STEPS.but(next_logits=lambda: lambda logits: logits),
        STEPS.but(next_logits=lambda: lambda logits: logits[:, -1:]),
        does="the logits keep an axis for the positions",
        says="`sample` gets logits with three axes. It takes those of one position: (batch, vocab_size).",
        hints=["Print the shape of what `sample` gets."],
    ),
    Mistake(
        "probabilities",
        STEPS.but(next_logits=lambda: lambda logits: logits[:, -1].softmax(dim=-1)),
        STEPS.but(logits=lambda model: lambda shown: model(shown).softmax(dim=-1)).attempt,
        does="`sample` gets probabilities, not logits",
        says="`sample` gets probabilities. It takes logits, and takes the softmax itself.",
        hints=["What does the lesson say that `sample` takes?"],
    ),
    Mistake(
        "softmax_over_another_axis",
        STEPS.but(next_logits=lambda: lambda logits: logits.softmax(dim=1)[:, -1]),
        STEPS.but(next_logits=lambda: lambda logits: logits[:, -1].softmax(dim=0)).attempt,
        does="a softmax runs over positions or texts",
        says="A softmax runs over another axis than the vocabulary, before `sample` gets to see the logits.",
        hints=["Between what do the probabilities compete, if the softmax has `dim=1`?"],
    ),
    Mistake(
        "greedy",
        STEPS.but(next_tokens=lambda: lambda next_logits: next_logits.argmax(dim=-1)),
        does="the likeliest token is taken; `sample` is not used",
        says="The likeliest token is taken in every round. How to choose is the argument `sample`, which is not used.",
        hints=["Where does the argument `sample` occur in the code?"],
    ),
    Mistake(
        "samples_by_itself",
        STEPS.but(
            next_tokens=lambda: lambda next_logits: torch.multinomial(next_logits.softmax(dim=-1), 1)[:, 0]
        ).attempt,
        says="The next tokens are drawn here. How to choose is the argument `sample`, which is not used.",
        hints=[
            "Where does the argument `sample` occur in the code?",
            "`sample` takes logits of shape (batch, vocab_size) and returns ids of shape (batch).",
            LAST,
        ],
    ),
    Mistake(
        "argmax_of_the_sample",
        STEPS.but(next_tokens=lambda sample: lambda next_logits: sample(next_logits).argmax(dim=-1)),
        STEPS.but(next_tokens=lambda sample: lambda next_logits: sample(next_logits).argmax(dim=-1, keepdim=True)),
        does="an `argmax` is taken of the ids that `sample` returns",
        says="An `argmax` is taken of what `sample` returns. These are ids already: what they name is the token.",
        hints=["What does `sample` return?"],
    ),
    Mistake(
        "one_token_for_all_texts",
        STEPS.but(next_tokens=of_one_text(lambda ids: ids[:1].expand(len(ids)))),
        STEPS.but(next_tokens=of_one_text(lambda ids: ids[0].expand(len(ids)))).attempt,
        STEPS.but(next_logits=lambda: lambda logits: logits[:1, -1].expand(len(logits), -1)).attempt,
        does="all texts get the same token, that of the first",
        says="Right for one text. In a batch, every text gets the token that was sampled for the first.",
        hints=["What shape do the next tokens have? There should be one for each text."],
    ),
    Mistake(
        "an_item_of_many",
        STEPS.but(next_tokens=of_one_text(lambda ids: torch.tensor([ids.item()]))),
        STEPS.but(next_tokens=of_one_text(lambda ids: torch.tensor([int(ids)]))).attempt,
        does="one number is asked of the next tokens of all texts",
        says="Right for one text. In a batch there are several next tokens, and `.item()` or `int()` takes one only.",
        hints=["What shape do the next tokens have, with 2 texts?"],
    ),
    Mistake(
        "appends_no_column",
        STEPS.but(extended=lambda: lambda tokens, next_tokens: torch.cat([tokens, next_tokens], dim=1)),
        STEPS.but(extended=lambda: lambda tokens, next_tokens: torch.cat([tokens, next_tokens], dim=-1)).attempt,
        does="the next tokens are appended without an axis for the positions",
        says=(
            "The next tokens have one axis, the text has two: what is appended should be a column, one token for each "
            "text."
        ),
        hints=["Print the shapes of the two things that are joined."],
    ),
    Mistake(
        "appends_a_row",
        STEPS.but(extended=lambda: lambda tokens, next_tokens: torch.cat([tokens, next_tokens[None]], dim=1)),
        STEPS.but(extended=lambda: lambda tokens, next_tokens: torch.cat([tokens, next_tokens[:, None]], dim=0)),
        STEPS.but(extended=lambda: lambda tokens, next_tokens: torch.cat([tokens, next_tokens[:, None]])).attempt,
        does="the next tokens are appended as a row, or below the texts",
    ),
    Mistake(
        "appends_in_front",
        STEPS.but(extended=lambda: lambda tokens, next_tokens: torch.cat([next_tokens[:, None], tokens], dim=1)),
        does="the next tokens are put in front of the text",
    ),
    Mistake(
        "never_grows",
        STEPS.but(extended=lambda: lambda tokens, next_tokens: tokens),
        STEPS.but(extended=lambda: lambda tokens, next_tokens: next_tokens[:, None]),
        does="the text does not get longer from round to round",
    ),
    Mistake(
        "writes_over_the_last_token",
        STEPS.but(
            extended=lambda: lambda tokens, next_tokens: torch.cat([tokens[:, :-1], next_tokens[:, None]], dim=1)
        ),
        does="the next tokens replace the last column",
        says="The next tokens replace the last ones. They come *after* these.",
        hints=["What becomes of the last token of the prompt?"],
    ),
    Mistake(
        "leaves_the_model_in_train_mode",
        in_train_mode,
        says="The model is put into train mode, so that it drops units at random while it generates.",
        hints=[
            "What is `model.training` before the call, and after it?",
            "In train mode, dropout adds noise to the logits.",
            "Leave `model.train()` out.",
        ],
    ),
]
