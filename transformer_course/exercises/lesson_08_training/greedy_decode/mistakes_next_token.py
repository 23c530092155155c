"""What goes wrong when the next token is chosen and appended."""

import torch
from torch.nn import functional

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_08_training.greedy_decode.answer import STEPS


def forbidding(logits, token):
    """Return the logits with one token that is never chosen."""
    return logits.index_fill(-1, torch.tensor([token]), -torch.inf)


def filled_up(max_length, token):
    """Make the function that fills a target up to its full length."""
    return lambda target: functional.pad(target, (0, max_length + 1 - target.shape[1]), value=token)


MISTAKES = [
    Mistake(
        "begins_with_the_end",
        STEPS.but(start=lambda source, eos_id: torch.full((len(source), 1), eos_id)),
        does="the target begins with eos instead of bos",
        says="The writing begins with eos instead of bos. In training, every target began with bos.",
        hints=["What is the first column of the target?"],
    ),
    Mistake(
        "begins_with_one",
        STEPS.but(start=lambda source: torch.ones(len(source), 1).long()).attempt,
        does="the target begins with token 1 instead of bos",
        says="The writing begins with token 1. In training, every target began with bos, and its id is an argument.",
        hints=[
            "What is the first column of the target?",
            "`torch.ones` writes ones. Which function writes any number?",
            "`torch.full((len(source), 1), bos_id)`.",
        ],
    ),
    Mistake(
        "begins_with_the_source",
        STEPS.but(start=lambda source: source, output=lambda written, source: written[:, source.shape[1] :]),
        STEPS.but(
            start=lambda source, bos_id: torch.cat([source, torch.full((len(source), 1), bos_id)], dim=1),
            output=lambda written, source: written[:, source.shape[1] + 1 :],
        ).attempt,
        STEPS.but(start=lambda source: source[:, :1]).attempt,
        STEPS.but(start=lambda source: source[:, -1:]).attempt,
        STEPS.but(start=lambda source: source).attempt,
        does="the target begins with tokens of the source",
        says="{does}. In training, every target began with bos, and with nothing else.",
        hints=["What is the model shown in the first round, beside the source?"],
    ),
    Mistake(
        "begins_with_nothing",
        STEPS.but(start=lambda source: torch.empty(len(source), 0).long(), output=lambda written: written).attempt,
        does="the target begins with no token at all",
        says=(
            "In the first round the model is shown no token, so there is no last position whose logits could be taken."
        ),
        hints=[
            "What is the model shown in the first round, beside the source?",
            "In training, every target began with bos.",
            "`torch.full((len(source), 1), bos_id)`.",
        ],
    ),
    Mistake(
        "begins_with_a_vector",
        STEPS.but(start=lambda source, bos_id: torch.full((len(source),), bos_id)).attempt,
        does="the target begins as a vector, without an axis for the positions",
        says="The target begins with one axis. The model wants two, (batch, n): a column of bos.",
        hints=[
            "Print the shape of what the model is shown in the first round.",
            "With 2 sentences it should be (2, 1).",
            "`torch.full((len(source), 1), bos_id)`.",
        ],
    ),
    Mistake(
        "begins_with_floats",
        STEPS.but(start=lambda source, bos_id: torch.ones(len(source), 1) * bos_id).attempt,
        does="the target begins with floats, which cannot be token ids",
        says="The target begins with floats. Token ids are whole numbers: with floats, nothing can be looked up.",
        hints=[
            "Print the dtype of what the model is shown in the first round.",
            "`torch.ones` and `torch.zeros` make floats; `torch.full` takes the dtype of its number.",
            "`torch.full((len(source), 1), bos_id)`.",
        ],
    ),
    Mistake(
        "one_row_of_bos",
        STEPS.but(start=lambda bos_id: torch.tensor([[bos_id]])),
        STEPS.but(target=lambda: lambda target, tokens: torch.cat([target, tokens[None]], dim=1)).attempt,
        does="what is joined has one row, whatever the number of sentences",
    ),
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
        "reads_the_first_position",
        STEPS.but(next_logits=lambda: lambda logits: logits[:, 0]),
        STEPS.but(shown=lambda: lambda target: target[:, :1]),
        does="in every round, what should follow the bos is chosen",
    ),
    Mistake(
        "reads_the_position_before_the_last",
        STEPS.but(next_logits=lambda: lambda logits: logits[:, max(logits.shape[1] - 2, 0)]),
        does="the logits are those of the position before the last",
        says="From the second round on, the logits of the position before the last are taken: tokens come twice.",
        hints=["Which position speaks of the token that is not there yet?"],
    ),
    Mistake(
        "shows_what_is_not_written_yet",
        STEPS.but(shown=lambda max_length, eos_id: filled_up(max_length, eos_id)),
        STEPS.but(shown=lambda max_length: filled_up(max_length, 0)).attempt,
        does="the model is shown a table in which positions are filled that have not been generated yet",
        says=(
            "The model is shown a whole table, and its last position is read: there stands what the table was filled "
            "with, not what was generated last."
        ),
        hints=["In the first round, what stands at the last position of what the model is shown?"],
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
        "a_column_meets_a_row",
        STEPS.but(
            choice=lambda: lambda next_logits: next_logits.argmax(dim=-1, keepdim=True),
            target=lambda: lambda target, tokens: torch.cat([target, tokens], dim=1),
        ),
        STEPS.but(
            choice=lambda: lambda next_logits: next_logits.argmax(dim=-1, keepdim=True),
            target=lambda: lambda target, tokens: torch.cat([target, tokens], dim=1),
            stop=lambda: lambda ended, tokens, target: False,
        ).attempt,
        does="a column of chosen tokens, (batch, 1), meets a row of marks, (batch,)",
        says=(
            "The chosen tokens are a column, (batch, 1), and the marks of what has ended are a row, (batch,): for "
            "several sentences, `torch.where` makes a square of the two."
        ),
        hints=["With 2 sentences, what shape has what is appended in one round?"],
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
        "appends_in_front",
        STEPS.but(target=lambda: lambda target, tokens: torch.cat([tokens[:, None], target], dim=1)).attempt,
        STEPS.but(
            target=lambda: lambda target, tokens: torch.cat([tokens[:, None], target], dim=1),
            output=lambda written: written[:, :-1],
        ),
        does="the new tokens are put in front of what has been generated",
        says="The new tokens are put in *front* of what has been generated, so that a text grows backwards.",
        hints=["What is the target after two rounds? Where is the bos?"],
    ),
    Mistake(
        "source_and_target_exchanged",
        STEPS.but(logits=lambda model, source: lambda shown: model(shown, source)),
        does="source and target have changed places in the call of the model",
    ),
    Mistake(
        "the_decoder_gets_the_source",
        STEPS.but(logits=lambda model, source: lambda shown: model(source, source)),
        does="the model is given the source as its target",
        says="The model is given the source twice. What has been generated so far never reaches it.",
        hints=["Does what the model says depend on what has been generated?"],
    ),
    Mistake(
        "the_target_instead_of_the_source",
        STEPS.but(logits=lambda model: lambda shown: model(shown, shown)),
        does="the model is given the target as its source",
        says="The model is given the target twice. It never sees the source that it is to translate.",
        hints=["Does what the model says depend on the source?"],
    ),
    Mistake(
        "the_model_gets_one_argument",
        STEPS.but(logits=lambda model: lambda shown: model(shown)).attempt,
        does="the model is called with one argument",
        says="{does}. It takes two: what it reads, and what has been generated.",
        hints=[
            "What does the lesson say `model` takes?",
            "First the source, then the target.",
            "`model(source, target)`.",
        ],
    ),
    Mistake(
        "second_likeliest",
        STEPS.but(choice=lambda: lambda next_logits: next_logits.topk(2).indices[:, 1]),
        does="the second likeliest token is chosen",
        says="The *second* likeliest token is generated.",
        hints=["Sort the logits of one position. Which token comes out, and which should?"],
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
        "softmax_over_another_axis",
        STEPS.but(next_logits=lambda: lambda logits: logits.softmax(dim=1)[:, -1]),
        STEPS.but(choice=lambda: lambda next_logits: next_logits.softmax(dim=0).argmax(dim=-1)).attempt,
        does="a softmax runs over positions or sentences before the choice",
        says="A softmax runs over another axis than the vocabulary, and that changes which token is the likeliest.",
        hints=["Between what do the probabilities compete, if the softmax has `dim=1`?"],
    ),
    Mistake(
        "one_token_for_all_sentences",
        STEPS.but(choice=lambda: lambda next_logits: next_logits[0].argmax().expand(len(next_logits))),
        STEPS.but(choice=lambda: lambda next_logits: next_logits.sum(dim=0).argmax().expand(len(next_logits))).attempt,
        does="all sentences get the same token",
        says="Right for one sentence. In a batch, every sentence gets the same token.",
        hints=["What shape do the chosen tokens have? There should be one for each sentence."],
    ),
    Mistake(
        "an_item_of_many",
        STEPS.but(choice=lambda: lambda next_logits: torch.tensor([next_logits.argmax(-1).item()])),
        STEPS.but(choice=lambda: lambda next_logits: torch.tensor([int(next_logits.argmax(-1))])).attempt,
        does="one number is asked of the chosen tokens of all sentences",
        says=(
            "Right for one sentence. In a batch there are several chosen tokens, and `.item()` or `int()` takes one "
            "only."
        ),
        hints=["What shape do the chosen tokens have, with 2 sentences?"],
    ),
    Mistake(
        "best_of_the_batch",
        STEPS.but(choice=lambda: lambda next_logits: next_logits.argmax(dim=0)),
        STEPS.but(choice=lambda: lambda next_logits: next_logits.argmax(dim=0)[: len(next_logits)]).attempt,
        does="the choice runs over the sentences, not over the vocabulary",
        says=(
            "The sentences compete: for each token, the sentence is chosen that gives it most. For each sentence, a "
            "token should be."
        ),
        hints=["Which axis of `logits[:, -1]` is the vocabulary?"],
    ),
    Mistake(
        "best_of_all_logits",
        STEPS.but(choice=lambda: lambda next_logits: next_logits.argmax()),
        STEPS.but(choice=lambda: lambda next_logits: next_logits.argmax()[:, None]).attempt,
        STEPS.but(choice=lambda: lambda next_logits: next_logits.argmax().expand(len(next_logits))).attempt,
        does="`argmax` has no axis, and looks through the logits of all sentences",
        says=(
            "Without an axis, `argmax` looks through the logits of all sentences as one long row, and gives one "
            "number. For each sentence, a token should be chosen."
        ),
        hints=["What shape do the chosen tokens have, with 2 sentences?"],
    ),
    Mistake(
        "last_sentence",
        STEPS.but(next_logits=lambda: lambda logits: logits[-1]),
        does="the logits are those of the last *sentence*, at all its positions",
        says=(
            "The last *sentence* of the batch is picked, with all its positions. It should be the last position of "
            "every sentence."
        ),
        hints=["The logits have the shape (batch, n, vocab_size). Which axis does `[-1]` cut?"],
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
        "appends_no_column",
        STEPS.but(target=lambda: lambda target, tokens: torch.cat([target, tokens], dim=1)),
        does="the chosen tokens are appended without an axis for the positions",
        says=(
            "The chosen tokens have one axis, the target has two: what is appended should be a column, one token for "
            "each sentence."
        ),
        hints=["Print the shapes of the two things that are joined."],
    ),
    Mistake(
        "appends_rows",
        STEPS.but(target=lambda: lambda target, tokens: torch.cat([target, tokens[:, None]], dim=0)).attempt,
        does="the chosen tokens are appended as rows, that is, as further sentences",
        says="The chosen tokens are joined below what has been generated, as if they were further sentences.",
        hints=[
            "What shape has the target after the first round?",
            "The target should grow by a column, so along the axis of the positions.",
            "`torch.cat([target, best[:, None]], dim=1)`.",
        ],
    ),
    Mistake(
        "never_grows",
        STEPS.but(target=lambda: lambda target, tokens: target),
        STEPS.but(target=lambda: lambda target, tokens: tokens[:, None]).attempt,
        does="the target does not get longer from round to round",
    ),
    Mistake(
        "no_end_at_first",
        STEPS.but(
            next_logits=lambda eos_id: (
                lambda logits: forbidding(logits[:, -1], eos_id) if logits.shape[1] == 1 else logits[:, -1]
            )
        ),
        does="eos is forbidden in the first round",
        says="In the first round eos is never chosen. A translation may be empty: then eos is all that is generated.",
        hints=["What comes out if the likeliest first token is eos?"],
    ),
    Mistake(
        "no_end_at_all",
        STEPS.but(next_logits=lambda eos_id: lambda logits: forbidding(logits[:, -1], eos_id)),
        does="eos is never chosen",
        says="{does}, however likely it is, so no sentence ends.",
        hints=["What comes out if the likeliest token is eos?"],
    ),
    Mistake(
        "forbids_a_token",
        STEPS.but(next_logits=lambda bos_id: lambda logits: forbidding(logits[:, -1], bos_id)),
        STEPS.but(next_logits=lambda: lambda logits: forbidding(logits[:, -1], 0)).attempt,
        does="one token is never chosen, however likely it is",
        says="One token, bos or 0, is never generated, however likely. The likeliest of *all* tokens is asked for.",
        hints=["What comes out if the likeliest token is 0, or bos?"],
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
