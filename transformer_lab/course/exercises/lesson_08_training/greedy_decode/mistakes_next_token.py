"""What goes wrong when the next token is chosen and appended."""

import torch

from transformer_lab.course.exercise import Mistake


def decode(choose, source, bos_id, eos_id, max_length):
    """The right loop around a choice of the next token from what has been written."""
    target = torch.full((len(source), 1), bos_id)
    ended = torch.zeros(len(source), dtype=torch.bool)
    for _ in range(max_length):
        best = torch.where(ended, eos_id, choose(target))
        target = torch.cat([target, best[:, None]], dim=1)
        ended = ended | (best == eos_id)
        if ended.all():
            break
    return target[:, 1:]


def shows_the_newest_token_only(model, source, bos_id, eos_id, max_length):
    return decode(lambda t: model(source, t[:, -1:])[:, -1].argmax(-1), source, bos_id, eos_id, max_length)


def reads_the_first_position(model, source, bos_id, eos_id, max_length):
    return decode(lambda t: model(source, t)[:, 0].argmax(-1), source, bos_id, eos_id, max_length)


def shows_the_bos_only(model, source, bos_id, eos_id, max_length):
    return decode(lambda t: model(source, t[:, :1])[:, -1].argmax(-1), source, bos_id, eos_id, max_length)


def drops_the_bos(model, source, bos_id, eos_id, max_length):
    def choose(target):
        seen = target if target.shape[1] == 1 else target[:, 1:]
        return model(source, seen)[:, -1].argmax(-1)

    return decode(choose, source, bos_id, eos_id, max_length)


def source_and_target_exchanged(model, source, bos_id, eos_id, max_length):
    return decode(lambda t: model(t, source)[:, -1].argmax(-1), source, bos_id, eos_id, max_length)


def least_likely(model, source, bos_id, eos_id, max_length):
    return decode(lambda t: model(source, t)[:, -1].argmin(-1), source, bos_id, eos_id, max_length)


def one_token_for_all_sentences(model, source, bos_id, eos_id, max_length):
    return decode(lambda t: model(source, t)[0, -1].argmax().expand(len(source)), source, bos_id, eos_id, max_length)


def an_item_of_many(model, source, bos_id, eos_id, max_length):
    return decode(
        lambda t: torch.tensor([model(source, t)[:, -1].argmax(-1).item()]), source, bos_id, eos_id, max_length
    )


def best_of_the_batch(model, source, bos_id, eos_id, max_length):
    return decode(lambda t: model(source, t)[:, -1].argmax(0)[: len(source)], source, bos_id, eos_id, max_length)


def begins_with_the_end(model, source, bos_id, eos_id, max_length):
    def choose(target):
        return model(source, torch.cat([torch.full((len(source), 1), eos_id), target[:, 1:]], 1))[:, -1].argmax(-1)

    return decode(choose, source, bos_id, eos_id, max_length)


def begins_with_zero(model, source, bos_id, eos_id, max_length):
    def choose(target):
        return model(source, torch.cat([torch.zeros(len(source), 1).long(), target[:, 1:]], 1))[:, -1].argmax(-1)

    return decode(choose, source, bos_id, eos_id, max_length)


def appends_every_prediction(model, source, bos_id, eos_id, max_length):
    target = torch.full((len(source), 1), bos_id)
    for _ in range(max_length):
        target = torch.cat([target, model(source, target).argmax(-1)], dim=1)
    return target[:, 1:]


def best_of_all_logits(model, source, bos_id, eos_id, max_length):
    return decode(lambda t: model(source, t)[:, -1].argmax(), source, bos_id, eos_id, max_length)


def best_of_all_logits_in_a_column(model, source, bos_id, eos_id, max_length):
    return decode(lambda t: model(source, t)[:, -1].argmax()[:, None], source, bos_id, eos_id, max_length)


def last_sentence(model, source, bos_id, eos_id, max_length):
    return decode(lambda t: model(source, t)[-1].argmax(-1), source, bos_id, eos_id, max_length)


def appends_no_column(model, source, bos_id, eos_id, max_length):
    target = torch.full((len(source), 1), bos_id)
    for _ in range(max_length):
        target = torch.cat([target, model(source, target)[:, -1].argmax(-1)], dim=1)
    return target[:, 1:]


def appends_a_row(model, source, bos_id, eos_id, max_length):
    target, ended = torch.full((len(source), 1), bos_id), torch.zeros(len(source), dtype=torch.bool)
    for _ in range(max_length):
        best = torch.where(ended, eos_id, model(source, target)[:, -1].argmax(-1))
        target, ended = torch.cat([target, best[None]], dim=1), ended | (best == eos_id)
        if ended.all():
            break
    return target[:, 1:]


def one_row_of_bos(model, source, bos_id, eos_id, max_length):
    target, ended = torch.tensor([[bos_id]]), torch.zeros(len(source), dtype=torch.bool)
    for _ in range(max_length):
        best = torch.where(ended, eos_id, model(source, target)[:, -1].argmax(-1))
        target, ended = torch.cat([target, best[:, None]], dim=1), ended | (best == eos_id)
        if ended.all():
            break
    return target[:, 1:]


MISTAKES = [
    Mistake(
        "shows_the_newest_token_only",
        [shows_the_newest_token_only],
        says=(
            "The first token is right, the others are not: the model is shown the newest token alone. For it, that stands "
            "at the first place, and nothing was written before."
        ),
        hints=[
            "What shape does the target have that the model gets in the third round? It should have three columns.",
            "Position 0 belongs to the bos. What was written keeps its positions.",
            "Hand over the whole `target` in every round.",
        ],
    ),
    Mistake(
        "reads_the_first_position",
        [reads_the_first_position, shows_the_bos_only],
        says="The same token is written again and again: what is chosen is what should follow the bos, in every round.",
        hints=[
            "There are logits for every position of the target. Which one speaks of the token that is not there yet?",
            "Or does the target never grow?",
            "The last position, `[:, -1]`, of the whole target.",
        ],
    ),
    Mistake(
        "drops_the_bos",
        [drops_the_bos],
        says=(
            "From the second token on, the bos is gone from what the model is shown, and all that follows stands one place "
            "too early."
        ),
        hints=[
            "What was the first column of the target in training?",
            "The bos is to be left out of what is *returned*.",
            "Cut it off after the loop.",
        ],
    ),
    Mistake(
        "source_and_target_exchanged",
        [source_and_target_exchanged],
        says="The model reads what it has written, and goes on with the source: its two arguments have changed places.",
        hints=[
            "In which order does the model take its arguments?",
            "`model(source, target)`: first what is read, then what is written.",
            "Exchange them.",
        ],
    ),
    Mistake(
        "least_likely",
        [least_likely],
        says="The *least* likely token is written.",
        hints=[
            "Large logits are likely tokens.",
            "Which of the two is wanted, the place of the smallest or that of the largest?",
            "`argmax`.",
        ],
    ),
    Mistake(
        "one_token_for_all_sentences",
        [one_token_for_all_sentences],
        says="Right for one sentence. In a batch, every sentence gets the token of the first.",
        hints=[
            "What shape do the chosen tokens have? There should be one for each sentence.",
            "Which axis of the logits is the batch?",
            "`[:, -1].argmax(dim=-1)`.",
        ],
    ),
    Mistake(
        "an_item_of_many",
        [an_item_of_many],
        says="Right for one sentence. In a batch there are several chosen tokens, and `.item()` or `int()` takes one only.",
        hints=[
            "What shape do the chosen tokens have, with 2 sentences?",
            "They can stay a tensor: `torch.cat` appends a column at once.",
            "`torch.cat([target, best[:, None]], dim=1)`.",
        ],
    ),
    Mistake(
        "best_of_the_batch",
        [best_of_the_batch],
        says=(
            "The sentences compete: for each token, the sentence is chosen that likes it most. For each sentence, a token "
            "should be."
        ),
        hints=[
            "Which axis of `logits[:, -1]` is the vocabulary?",
            "Which one is `dim=0`?",
            "`argmax(dim=-1)`.",
        ],
    ),
    Mistake(
        "begins_with_the_end",
        [begins_with_the_end],
        says="The writing begins with eos instead of bos. In training, every target began with bos.",
        hints=[
            "What is the first column of the target?",
            "Which of the two ids has to stand there?",
            "`torch.full((len(source), 1), bos_id)`.",
        ],
    ),
    Mistake(
        "begins_with_zero",
        [begins_with_zero],
        says="The writing begins with token 0. In training, every target began with bos, and its id is an argument.",
        hints=[
            "What is the first column of the target?",
            "`torch.zeros` writes zeros. Which function writes any number?",
            "`torch.full((len(source), 1), bos_id)`.",
        ],
    ),
    Mistake(
        "appends_every_prediction",
        [appends_every_prediction],
        says=(
            "In each round all the predictions are appended, those for places that are written already, too: the target "
            "doubles from round to round."
        ),
        hints=[
            "How many columns should one round add?",
            "Only the last position speaks of a token that is not there yet.",
            "`[:, -1]`, before the `argmax`.",
        ],
    ),
    Mistake(
        "best_of_all_logits",
        [best_of_all_logits, best_of_all_logits_in_a_column],
        says=(
            "Without an axis, `argmax` looks through the logits of all sentences as one long row, and gives one number. "
            "For each sentence, a token should be chosen."
        ),
        hints=[
            "What shape do the chosen tokens have, with 2 sentences?",
            "Which axis of `logits[:, -1]` is the vocabulary?",
            "`argmax(dim=-1)`.",
        ],
    ),
    Mistake(
        "last_sentence",
        [last_sentence],
        says=(
            "The last *sentence* of the batch is picked, with all its positions. It should be the last position of every "
            "sentence."
        ),
        hints=[
            "The logits have the shape (batch, n, vocab_size). Which axis does `[-1]` cut?",
            "Before the comma stand the sentences, behind it the positions.",
            "`[:, -1]`.",
        ],
    ),
    Mistake(
        "appends_no_column",
        [appends_no_column],
        says=(
            "The chosen tokens have one axis, the target has two: what is appended should be a column, one token for each "
            "sentence."
        ),
        hints=[
            "Print the shapes of the two things that are joined.",
            "The column of the new tokens has the shape (batch, 1).",
            "`best[:, None]`, with `dim=1`.",
        ],
    ),
    Mistake(
        "one_row_of_bos",
        [one_row_of_bos, appends_a_row],
        says=(
            "Right for one sentence. In a batch, the pieces that are joined have different numbers of rows: the target "
            "should begin with a bos for each sentence, and grow by a column for all of them."
        ),
        hints=[
            "With 2 sentences, which shape should the target have at the beginning, and which has it?",
            "What is appended is a column of shape (batch, 1).",
            "`torch.full((len(source), 1), bos_id)`, and `best[:, None]`.",
        ],
    ),
]
