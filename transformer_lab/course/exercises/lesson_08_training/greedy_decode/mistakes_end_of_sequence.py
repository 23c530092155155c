"""What goes wrong at the ends of sentences."""

import torch

from transformer_lab.course.exercise import Mistake
from transformer_lab.course.exercises.lesson_08_training.greedy_decode.mistakes_next_token import decode


def likeliest(model, source):
    return lambda target: model(source, target)[:, -1].argmax(-1)


def right(model, source, bos_id, eos_id, max_length):
    return decode(likeliest(model, source), source, bos_id, eos_id, max_length)


def ends_what_has_not_ended(model, source, bos_id, eos_id, max_length):
    target = torch.full((len(source), 1), bos_id)
    ended = torch.zeros(len(source), dtype=torch.bool)
    for _ in range(max_length):
        best = torch.where(ended, model(source, target)[:, -1].argmax(dim=-1), eos_id)
        target = torch.cat([target, best[:, None]], dim=1)
        ended = ended | (best == eos_id)
        if ended.all():
            break
    return target[:, 1:]


def asks_the_whole_batch(model, source, bos_id, eos_id, max_length):
    target = torch.full((len(source), 1), bos_id)
    for _ in range(max_length):
        best = model(source, target)[:, -1].argmax(dim=-1)
        target = torch.cat([target, best[:, None]], dim=1)
        if best == eos_id:
            break
    return target[:, 1:]


def positions_in_rows(model, source, bos_id, eos_id, max_length):
    return right(model, source, bos_id, eos_id, max_length).T


def keeps_the_bos(model, source, bos_id, eos_id, max_length):
    return torch.cat([torch.full((len(source), 1), bos_id), right(model, source, bos_id, eos_id, max_length)], dim=1)


def goes_on_after_the_end(model, source, bos_id, eos_id, max_length):
    return decode(likeliest(model, source), source, bos_id, -1, max_length)


def goes_on_until_all_have_ended(model, source, bos_id, eos_id, max_length):
    target, ended = torch.full((len(source), 1), bos_id), torch.zeros(len(source), dtype=torch.bool)
    for _ in range(max_length):
        best = model(source, target)[:, -1].argmax(-1)
        target = torch.cat([target, best[:, None]], dim=1)
        ended |= best == eos_id
        if ended.all():
            break
    return target[:, 1:]


def stops_only_when_all_end_at_once(model, source, bos_id, eos_id, max_length):
    target = torch.full((len(source), 1), bos_id)
    for _ in range(max_length):
        best = model(source, target)[:, -1].argmax(-1)
        target = torch.cat([target, best[:, None]], dim=1)
        if (best == eos_id).all():
            break
    return target[:, 1:]


def waits_for_nobody(model, source, bos_id, eos_id, max_length):
    target = torch.full((len(source), 1), bos_id)
    for _ in range(max_length):
        best = model(source, target)[:, -1].argmax(dim=-1)
        target = torch.cat([target, best[:, None]], dim=1)
        if (best == eos_id).any():
            break
    return target[:, 1:]


def looks_at_the_first_sentence_only(model, source, bos_id, eos_id, max_length):
    target = torch.full((len(source), 1), bos_id)
    for _ in range(max_length):
        best = model(source, target)[:, -1].argmax(dim=-1)
        target = torch.cat([target, best[:, None]], dim=1)
        if best[0] == eos_id:
            break
    return target[:, 1:]


def one_step_short(model, source, bos_id, eos_id, max_length):
    choose = likeliest(model, source)
    return decode(choose, source, bos_id, eos_id, max_length - 1)


def one_step_long(model, source, bos_id, eos_id, max_length):
    return decode(likeliest(model, source), source, bos_id, eos_id, max_length + 1)


def ignores_max_length(model, source, bos_id, eos_id, max_length):
    return decode(likeliest(model, source), source, bos_id, eos_id, 10**6)


def zeros_after_the_end(model, source, bos_id, eos_id, max_length):
    written = right(model, source, bos_id, eos_id, max_length)
    after = (written == eos_id).cumsum(1) > 1
    return written.masked_fill(after, 0)


def bos_after_the_end(model, source, bos_id, eos_id, max_length):
    written = right(model, source, bos_id, eos_id, max_length)
    return written.masked_fill((written == eos_id).cumsum(1) > 1, bos_id)


def the_last_token_again(model, source, bos_id, eos_id, max_length):
    written = right(model, source, bos_id, eos_id, max_length)
    for t in range(1, written.shape[1]):
        written[:, t] = torch.where(written[:, t] == eos_id, written[:, t - 1], written[:, t])
    return written


def leaves_the_end_out(model, source, bos_id, eos_id, max_length):
    written = right(model, source, bos_id, eos_id, max_length)
    return written.masked_fill(written == eos_id, 0)


def a_list_of_sentences(model, source, bos_id, eos_id, max_length):
    return [row[row != eos_id] for row in right(model, source, bos_id, eos_id, max_length)]


def a_list_of_lists(model, source, bos_id, eos_id, max_length):
    return right(model, source, bos_id, eos_id, max_length).tolist()


MISTAKES = [
    Mistake(
        "keeps_the_bos",
        [keeps_the_bos],
        says="A bos is left in the output. It was given, not written: the output begins with what comes after it.",
        hints=[
            "How many columns of bos does the target begin with, and how many are cut off?",
            "One column of bos is enough, for every sentence one; and it is no part of the output.",
            "Begin with `torch.full((len(source), 1), bos_id)`, and return `target[:, 1:]`.",
        ],
    ),
    Mistake(
        "ends_what_has_not_ended",
        [ends_what_has_not_ended],
        says=(
            "Nothing is written but eos, or nothing at all. Either eos is chosen for the sentences that have *not* ended, "
            "or the target does not grow from round to round."
        ),
        hints=[
            "What does `torch.where(torch.tensor([True, False]), 1, 2)` give? And how many columns has the target in "
            "the end?",
            "Where the condition holds, `torch.where` takes the second argument, else the third; what comes out is "
            "appended.",
            "`best = torch.where(ended, eos_id, best)`, then `target = torch.cat([target, best[:, None]], dim=1)`.",
        ],
    ),
    Mistake(
        "asks_the_whole_batch",
        [asks_the_whole_batch],
        says="An `if` takes one answer, and here there is one for each sentence: with several, torch refuses.",
        hints=[
            "What is `best == eos_id` for 2 sentences?",
            "A sentence that has ended waits for the others. When may the loop stop?",
            "Keep `ended = ended | (best == eos_id)`, choose eos where it is True, and stop when `ended.all()`.",
        ],
    ),
    Mistake(
        "positions_in_rows",
        [positions_in_rows],
        says="Sentences and positions have changed places: there is a row for each round of the loop. Look at the shape.",
        hints=[
            "What shape is asked for, and what shape comes out for 2 sentences?",
            "`torch.stack` puts its pieces one below the other, unless it is told along which axis.",
            "`torch.stack(…, dim=1)`.",
        ],
    ),
    Mistake(
        "goes_on_after_the_end",
        [goes_on_after_the_end, goes_on_until_all_have_ended, stops_only_when_all_end_at_once],
        says="A sentence goes on after its end, as long as another one is being written. After eos, only eos should follow.",
        hints=[
            "What does a model write after eos? It was never trained to write anything there.",
            "Remember which sentences have ended, and choose eos for them whatever the model says.",
            "`torch.where(ended, eos_id, best)` before the token is appended.",
        ],
    ),
    Mistake(
        "waits_for_nobody",
        [waits_for_nobody],
        says="All sentences stop when one of them ends. The others are cut off in the middle.",
        hints=[
            "Case 4 has a sentence that ends after 3 tokens, and one that does not.",
            "When may the loop stop?",
            "When *all* have ended: `ended.all()`, not `.any()`.",
        ],
    ),
    Mistake(
        "looks_at_the_first_sentence_only",
        [looks_at_the_first_sentence_only],
        says="The end of the first sentence decides for all.",
        hints=[
            "Case 4 has a sentence that ends after 3 tokens, and one that does not.",
            "Each sentence needs a mark of its own, whether it has ended.",
            "`ended = ended | (best == eos_id)`, and stop when `ended.all()`.",
        ],
    ),
    Mistake(
        "one_step_short",
        [one_step_short],
        says="It stops one token too early. The bos does not count as written.",
        hints=[
            "With max_length = 1, how many tokens should come out?",
            "How often does the loop run?",
            "`range(max_length)`.",
        ],
    ),
    Mistake(
        "one_step_long",
        [one_step_long],
        says="One token more is written than was allowed.",
        hints=[
            "With max_length = 1, how many tokens should come out?",
            "How often does the loop run?",
            "`range(max_length)`.",
        ],
    ),
    Mistake(
        "ignores_max_length",
        [ignores_max_length],
        says=(
            "It writes until all sentences have ended. Some never do: a model that has learned little goes on for ever, "
            "and here it runs out of positions."
        ),
        hints=[
            "What stops the loop if no eos comes?",
            "max_length says how many tokens are written at most.",
            "`for _ in range(max_length)`, and `break` where all have ended.",
        ],
    ),
    Mistake(
        "zeros_after_the_end",
        [zeros_after_the_end, bos_after_the_end],
        says="After the end of a sentence there is something else than eos.",
        hints=[
            "What should fill up the sentences that have ended?",
            "Padding is no argument of this function; eos is.",
            "`torch.where(ended, eos_id, best)`.",
        ],
    ),
    Mistake(
        "the_last_token_again",
        [the_last_token_again],
        says="The eos itself is missing: what has ended is filled up with its last token.",
        hints=[
            "How would a reader know where the sentence ends?",
            "The eos is written like any other token, and what follows it is eos, too.",
            "`torch.where(ended, eos_id, best)`.",
        ],
    ),
    Mistake(
        "leaves_the_end_out",
        [leaves_the_end_out],
        says=(
            "The eos is taken out of the output. It is a token like any other, and should stay: it says that the sentence "
            "has ended, and was not cut off."
        ),
        hints=[
            "How would a reader tell a sentence that ended from one that was cut off?",
            "Only the bos is no part of the output.",
            "Return the tokens as they were written.",
        ],
    ),
    Mistake(
        "a_list_of_sentences",
        [a_list_of_sentences],
        says=(
            "This is a list. One tensor is asked for, (batch, n_written), in which sentences that have ended are filled up "
            "with eos."
        ),
        hints=[
            "What does the annotation say behind the arrow?",
            "If all sentences grow by one token in each round, they stay a tensor.",
            "Return `target[:, 1:]`.",
        ],
    ),
    Mistake(
        "a_list_of_lists",
        [a_list_of_lists],
        says="The tokens are right, but they are in lists. One tensor is asked for, (batch, n_written).",
        hints=[
            "What does the annotation say behind the arrow?",
            "`.tolist()` is not needed.",
            "Return `target[:, 1:]`.",
        ],
    ),
]
