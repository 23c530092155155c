"""What goes wrong at the ends of sentences."""

import torch
from torch.nn import functional

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_08_training.greedy_decode.answer import STEPS


def never():
    return lambda ended, tokens, target: False


def filled_with(filling):
    """Make the ways of writing something else than eos after the end, stopping when all have ended, or not."""
    return [STEPS.but(tokens=filling), STEPS.but(tokens=filling, stop=never)]


def always(token):
    """Make the step that writes one token after the end."""
    return lambda: lambda chosen, ended: chosen.masked_fill(ended, token)


def filled_up_with(token):
    """Make the step that fills the output up with one token once all sentences have ended."""
    return lambda written, max_length: functional.pad(
        written[:, 1:], (0, max(max_length + 1 - written.shape[1], 0)), value=token
    )


def each_until_its_end(form):
    """Make the step that returns a list of the sentences, each up to its eos."""

    def output(written, eos_id):
        lengths = (written[:, 1:] != eos_id).sum(dim=1) + 1
        return [form(row[:length]) for row, length in zip(written[:, 1:], lengths.tolist(), strict=True)]

    return output


def with_its_last_token(written, eos_id):
    """Return a target in which what has ended is filled up with its last token, in place of eos."""
    filled = written.clone()
    for t in range(1, filled.shape[1]):
        filled[:, t] = torch.where(filled[:, t] == eos_id, filled[:, t - 1], filled[:, t])
    return filled[:, 1:]


def with_an_end(written, eos_id, source):
    """Return what was generated, and an eos at its end."""
    return torch.cat([written[:, 1:], torch.full((len(source), 1), eos_id)], dim=1)


def drops_sentences_that_have_ended(model, source, bos_id, eos_id, max_length):
    target = torch.full((len(source), 1), bos_id)
    for _ in range(max_length):
        best = model(source, target)[:, -1].argmax(dim=-1)
        target = torch.cat([target, best[:, None]], dim=1)
        source, target = source[best != eos_id], target[best != eos_id]
        if not len(source):
            break
    return target[:, 1:]


MISTAKES = [
    Mistake(
        "keeps_the_bos",
        STEPS.but(output=lambda written: written),
        does="the bos is left in the output",
    ),
    Mistake(
        "keeps_the_bos_and_drops_the_last",
        STEPS.but(output=lambda written: written[:, :-1]),
        does="the last column of the target is cut off, not the first",
    ),
    Mistake(
        "cuts_both_ends",
        STEPS.but(output=lambda written: written[:, 1:-1]),
        does="the last column of the target is cut off as well as the first",
        says="The last token that was generated is cut off. Only the bos is no part of the output.",
        hints=["With max_length = 1, how many tokens should come out?"],
    ),
    Mistake(
        "cuts_off_a_sentence",
        STEPS.but(output=lambda written: written[1:]).attempt,
        does="the first *sentence* is cut off, not the first column",
        says="The first *sentence* is cut off. It should be the first column, the bos of all of them.",
        hints=[
            "Which axis of the target are the sentences?",
            "Before the comma stand the sentences, behind it the positions.",
            "`target[:, 1:]`.",
        ],
    ),
    Mistake(
        "the_last_tokens_only",
        STEPS.but(output=lambda written: written[:, -1]),
        STEPS.but(output=lambda written: written[:, -1:]).attempt,
        does="only the last tokens are returned",
        says="Only the tokens of the last round are returned. All that were generated are asked for.",
        hints=["What shape is asked for?"],
    ),
    Mistake(
        "stops_before_the_end_is_written",
        STEPS.but(
            output=lambda written, eos_id: (
                written[:, 1:-1] if (written[:, 1:] == eos_id).any(1).all() else written[:, 1:]
            )
        ),
        does="when the last sentence ends, its eos is not appended any more",
        says=(
            "When the last sentence ends, its eos is not generated any more: the loop stops first. Eos is a token like "
            "any other, and part of the output."
        ),
        hints=["What comes out for a single sentence that ends after 3 tokens?"],
    ),
    Mistake(
        "asks_the_whole_batch",
        STEPS.but(stop=lambda eos_id: lambda ended, tokens, target: tokens == eos_id),
        does="a whole tensor is asked whether it is true, as by an `if`",
    ),
    Mistake(
        "positions_in_rows",
        STEPS.but(output=lambda written: written[:, 1:].T),
        does="the output has a row for each round, not for each sentence",
        says=(
            "Sentences and positions have changed places: there is a row for each round of the loop. Look at the shape."
        ),
        hints=["What shape is asked for, and what shape comes out for 2 sentences?"],
    ),
    Mistake(
        "goes_on_after_the_end",
        STEPS.but(tokens=lambda: lambda chosen, ended: chosen),
        STEPS.but(ended=lambda: lambda ended, tokens, chosen: ended),
        STEPS.but(
            tokens=lambda: lambda chosen, ended: chosen,
            stop=lambda eos_id: lambda ended, tokens, target: (tokens == eos_id).all(),
        ),
        does="a sentence that has ended goes on with what the model says",
        says=(
            "A sentence goes on after its end, as long as another one is being generated. After eos, only eos should "
            "follow."
        ),
        hints=["What does a model write after eos? It was never trained to write anything there."],
    ),
    Mistake(
        "forgets_who_has_ended",
        STEPS.but(ended=lambda eos_id: lambda ended, tokens, chosen: chosen == eos_id),
        STEPS.but(ended=lambda eos_id: lambda ended, tokens, chosen: chosen == eos_id, stop=never).attempt,
        STEPS.but(
            ended=lambda eos_id: lambda ended, tokens, chosen: chosen == eos_id,
            stop=lambda eos_id: lambda ended, tokens, target: (target == eos_id).any(dim=1).all(),
        ),
        does="that a sentence has ended is forgotten after one round",
        says="A sentence that has ended gets eos once more, and then goes on: that it has ended is forgotten.",
        hints=["What is remembered of a sentence that ended two rounds ago?"],
    ),
    Mistake(
        "another_token_ends",
        STEPS.but(ended=lambda bos_id: lambda ended, tokens, chosen: ended | (tokens == bos_id)).attempt,
        STEPS.but(ended=lambda: lambda ended, tokens, chosen: ended | (tokens == 0)).attempt,
        does="another token than eos is taken for the end of a sentence",
        says="Another token than eos, bos or 0, is taken for the end of a sentence.",
        hints=[
            "What does the loop do when a sentence has generated eos?",
            "With which number are the chosen tokens compared?",
            "`best == eos_id`.",
        ],
    ),
    Mistake(
        "waits_for_nobody",
        STEPS.but(stop=lambda: lambda ended, tokens, target: ended.any()),
        STEPS.but(
            stop=lambda: lambda ended, tokens, target: ended.any(),
            output=lambda written, eos_id: written[:, 1:-1] if (written[:, 1:] == eos_id).any() else written[:, 1:],
        ).attempt,
        does="the loop stops when *one* sentence has ended",
        says="All sentences stop when one of them ends. The others are cut off in the middle.",
        hints=["What becomes of a sentence whose neighbour in the batch ends after 3 tokens?"],
    ),
    Mistake(
        "looks_at_the_first_sentence_only",
        STEPS.but(stop=lambda: lambda ended, tokens, target: ended[0]),
        STEPS.but(
            tokens=lambda: lambda chosen, ended: chosen,
            stop=lambda eos_id: lambda ended, tokens, target: tokens[0] == eos_id,
        ),
        does="the loop stops when the *first* sentence has ended",
        says="The end of the first sentence decides for all: when it has ended, the others are cut off.",
        hints=["What becomes of a long sentence, if the first one of the batch is short?"],
    ),
    Mistake(
        "looks_at_the_last_sentence_only",
        STEPS.but(stop=lambda: lambda ended, tokens, target: ended[-1]),
        STEPS.but(
            tokens=lambda: lambda chosen, ended: chosen,
            stop=lambda eos_id: lambda ended, tokens, target: tokens[-1] == eos_id,
        ).attempt,
        does="the loop stops when the *last* sentence has ended",
        says="The end of the last sentence of the batch decides for all: when it has ended, the others are cut off.",
        hints=["What becomes of a long sentence, if the last one of the batch is short?"],
    ),
    Mistake(
        "stops_after_one_round",
        STEPS.but(n_rounds=lambda: 1),
        does="the loop stops after one round",
    ),
    Mistake(
        "one_step_short",
        STEPS.but(n_rounds=lambda max_length: max_length - 1),
        does="the loop has one round too few",
    ),
    Mistake(
        "one_step_long",
        STEPS.but(n_rounds=lambda max_length: max_length + 1),
        does="the loop has one round too many",
    ),
    Mistake(
        "ignores_max_length",
        STEPS.but(n_rounds=lambda: 20),
        does="max_length does not stop the loop",
        says=(
            "It writes until all sentences have ended. Some never do: a model that has learned little goes on for "
            "ever, and here it runs out of positions."
        ),
        hints=["What stops the loop if no eos comes?"],
    ),
    Mistake(
        "zeros_after_the_end",
        *filled_with(lambda: lambda chosen, ended: chosen.masked_fill(ended, 0)),
        STEPS.but(tokens=lambda bos_id: lambda chosen, ended: chosen.masked_fill(ended, bos_id)),
        STEPS.but(tokens=lambda bos_id: lambda chosen, ended: chosen.masked_fill(ended, bos_id), stop=never).attempt,
        *[STEPS.but(output=filled_up_with(token)).attempt for token in (0, -1, 1)],
        *[way.attempt for token in (-1, 1, -100) for way in filled_with(always(token))],
        does="after the end of a sentence something other than eos is generated",
        says="After the end of a sentence there is something else than eos.",
        hints=["What should fill up the sentences that have ended?"],
    ),
    Mistake(
        "the_last_token_again",
        STEPS.but(output=with_its_last_token),
        STEPS.but(output=with_its_last_token, stop=never),
        does="eos is replaced by the last token before it",
        says="The eos itself is missing: what has ended is filled up with its last token.",
        hints=["How would a reader know where the sentence ends?"],
    ),
    Mistake(
        "leaves_the_end_out",
        STEPS.but(output=lambda written, eos_id: written[:, 1:].masked_fill(written[:, 1:] == eos_id, 0)),
        STEPS.but(
            output=lambda written, eos_id, bos_id: written[:, 1:].masked_fill(written[:, 1:] == eos_id, bos_id)
        ).attempt,
        does="eos is taken out of the output",
        says=(
            "The eos is taken out of the output. It is a token like any other, and should stay: it says that the "
            "sentence has ended, and was not cut off."
        ),
        hints=["How would a reader tell a sentence that ended from one that was cut off?"],
    ),
    Mistake(
        "a_list_of_sentences",
        STEPS.but(output=lambda written, eos_id: [row[row != eos_id] for row in written[:, 1:]]),
        STEPS.but(output=lambda written, eos_id: [row[row != eos_id].tolist() for row in written[:, 1:]]).attempt,
        STEPS.but(output=lambda written: list(written[:, 1:])).attempt,
        *[STEPS.but(output=each_until_its_end(form)).attempt for form in (lambda row: row, lambda row: row.tolist())],
        does="a list is returned, not one tensor",
        says=(
            "This is a list. One tensor is asked for, (batch, n_written), in which sentences that have ended are "
            "filled up with eos."
        ),
        hints=["What does the annotation say behind the arrow?"],
    ),
    Mistake(
        "a_list_of_rounds",
        STEPS.but(output=lambda written: list(written[:, 1:].T)),
        does="a list is returned, with the tokens of each round",
        says="This is a list with the tokens of each round. One tensor is asked for, (batch, n_written).",
        hints=["What does the annotation say behind the arrow?"],
    ),
    Mistake(
        "ends_by_force",
        STEPS.but(n_rounds=lambda max_length: max_length - 1, output=with_an_end),
        STEPS.but(output=with_an_end),
        does="an eos is appended after the last round, whether the model chose it or not",
        says=(
            "The last token is eos even where the model has not chosen it. A text that is too long is cut off as it is."
        ),
        hints=["With max_length = 1, what comes out if the likeliest token is not eos?"],
    ),
    Mistake(
        "drops_sentences_that_have_ended",
        drops_sentences_that_have_ended,
        says="Sentences that have ended are taken out of the batch, and are missing in what is returned.",
        hints=[
            "How many sentences go in, and how many come out?",
            "What has ended stays in the table, and gets eos.",
            "`torch.where(ended, eos_id, best)` for all the sentences of the batch.",
        ],
    ),
    Mistake(
        "without_the_axis_of_the_batch",
        STEPS.but(output=lambda written: written[:, 1:].squeeze(0)),
        STEPS.but(output=lambda written: written[0, 1:]).attempt,
        STEPS.but(output=lambda written: written[:, 1:].flatten()).attempt,
        does="the output has no axis for the sentences",
        says="The output has one axis, at least for a single sentence. A batch of one sentence is a batch, too.",
        hints=["What shape is asked for, and what shape comes out for 1 sentence?"],
    ),
]
