"""What goes wrong when the next token is chosen and appended."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_08_training.greedy_decode.answer import STEPS

MISTAKES = [
    Mistake(
        "shows_the_newest_token_only",
        STEPS.but(shown=lambda: lambda target: target[:, -1:]),
        does="the model is shown the newest token alone",
        says=(
            "The first token is right, the others are not: {does}. For it, that stands at the first position, and "
            "nothing was generated before."
        ),
        hints=["What shape does the target have that the model gets in the third round? It should have three columns."],
    ),
    Mistake(
        "reads_the_position_before_the_last",
        STEPS.but(next_logits=lambda: lambda logits: logits[:, max(logits.shape[1] - 2, 0)]),
        does="the logits are those of the position before the last",
        says="From the second round on, the logits of the position before the last are taken: tokens come twice.",
        hints=["Which position speaks of the token that is not there yet?"],
    ),
    Mistake(
        "best_position",
        STEPS.but(
            next_logits=lambda: lambda logits: logits,
            choice=lambda: lambda logits: logits.argmax(dim=1)[:, -1],
        ),
        does="the choice runs over the positions, not over the vocabulary",
        says="What is chosen is a *position*, not a token: `argmax` runs along the positions.",
        hints=["The logits have the shape (batch, n, vocab_size). Which axis is 1?"],
    ),
    Mistake(
        "drops_the_bos",
        STEPS.but(shown=lambda: lambda target: target if target.shape[1] == 1 else target[:, 1:]),
        does="the bos is left out of what the model is shown",
        says=(
            "From the second token on, the bos is gone from what the model is shown, and all that follows stands one "
            "place too early."
        ),
        hints=["What was the first column of the target in training?"],
    ),
    Mistake(
        "the_decoder_gets_the_source",
        STEPS.but(logits=lambda model, source: lambda shown: model(source, source)),
        does="the model is given the source as its target",
        says="The model is given the source twice. What has been generated so far never reaches it.",
        hints=["Does what the model says depend on what has been generated?"],
    ),
    Mistake(
        "the_logits_themselves",
        STEPS.but(choice=lambda: lambda next_logits: next_logits.amax(dim=-1)).attempt,
        STEPS.but(choice=lambda: lambda next_logits: next_logits.max(dim=-1).values.long()).attempt,
        does="the largest *logit* is taken, not its token",
        says="The largest logit is generated, as if it were a token. The *place* of the largest is the token.",
        hints=[
            "What is `torch.tensor([0.1, 0.7]).max()`? And the likeliest token?",
            "`max` along an axis gives two things: the largest numbers, and where they are.",
            "`argmax(dim=-1)`.",
        ],
    ),
    Mistake(
        "appends_every_prediction",
        STEPS.but(
            next_logits=lambda: lambda logits: logits,
            tokens=lambda: lambda chosen, ended: chosen,
            ended=lambda: lambda ended, tokens, chosen: ended,
            target=lambda: lambda target, tokens: torch.cat([target, tokens], dim=1),
        ).attempt,
        does="all predictions are appended in each round, not only that of the last position",
        says=(
            "In each round all the predictions are appended, those for positions that are generated already, too: the "
            "target doubles from round to round."
        ),
        hints=[
            "How many columns should one round add?",
            "Only the last position speaks of a token that is not there yet.",
            "`[:, -1]`, before the `argmax`.",
        ],
    ),
    Mistake(
        "leaves_the_model_in_eval_mode",
        STEPS.but(model=lambda model: model.eval()).attempt,
        says=(
            "The tokens are right, but the model is left in another mode than it came in: in eval mode, a model that "
            "is being trained goes on without its dropout."
        ),
        hints=[
            "What is `model.training` before the call, and after it?",
            "Nothing is asked about the mode: the model may be used as it is.",
            "Leave `model.eval()` out, or call `model.train(was_training)` in the end.",
        ],
    ),
]
