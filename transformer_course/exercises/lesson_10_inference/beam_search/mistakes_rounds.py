"""What goes wrong in the rounds of a beam search: in the candidates, in those that go on, and in when it stops."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_10_inference.beam_search.answer import STEPS


def to_the_longest(texts, token):
    """Fill texts up with a token, to the length of the longest."""
    n = max(map(len, texts))
    return torch.tensor([text + [token] * (n - len(text)) for text in texts])


def in_a_batch(*, tiled=False, left="", over_the_batch=False, by_the_beam_size=False, stops="", frozen=True):
    """Make a search that runs the beams of all sentences in one batch, with one thing done wrong in it.

    Args:
        tiled: Whether the sources are repeated as A B A B, not as A A B B.
        left: What stays in its row when candidates are chosen, by first letters: texts, ended, lengths.
        over_the_batch: Whether the sentences compete.
        by_the_beam_size: Whether the index of a candidate is divided by beam_size to find its text.
        stops: Whether the search stops when "any" text of every sentence has ended, or the "first".
        frozen: Whether finished texts stay as they are.
    """

    def search(model, source, bos_id, eos_id, max_length, beam_size, length_penalty):
        batch, rows = len(source), torch.arange(len(source))[:, None]
        sources = source.repeat(beam_size, 1) if tiled else source.repeat_interleave(beam_size, dim=0)
        texts = torch.full((batch, beam_size, 1), bos_id)
        totals = torch.zeros(batch, beam_size).index_fill(1, torch.arange(1, beam_size), -torch.inf)
        lengths, ended = torch.zeros(batch, beam_size), torch.zeros(batch, beam_size, dtype=torch.bool)
        for _ in range(max_length):
            steps = model(sources, texts.flatten(0, 1))[:, -1].log_softmax(dim=-1).view(batch, beam_size, -1)
            vocab_size = steps.shape[-1]
            if frozen:
                steps = steps.masked_fill(ended[..., None], -torch.inf)
                steps[..., eos_id] = steps[..., eos_id].masked_fill(ended, 0.0)
            candidates = (totals[..., None] + steps).flatten(1)
            if over_the_batch:
                best = candidates.flatten().topk(batch * beam_size).indices.view(batch, beam_size)
                rows, best = best // candidates.shape[1], best % candidates.shape[1]
            else:
                best = candidates.topk(beam_size).indices
            parents, tokens = best // (beam_size if by_the_beam_size else vocab_size) % beam_size, best % vocab_size
            totals, lengths = candidates[rows, best], lengths + ~ended
            texts, ended, lengths = (
                x if name in left else x[rows, parents] for x, name in ((texts, "t"), (ended, "e"), (lengths, "l"))
            )
            texts, ended = torch.cat([texts, tokens[..., None]], dim=-1), ended | (tokens == eos_id)
            if ended.all() or (stops and (ended[:, 0] if stops == "first" else ended.any(dim=1)).all()):
                break
        scores = totals / ((5 + lengths) / 6) ** length_penalty
        return texts[torch.arange(batch), scores.argmax(dim=1), 1:]

    return search


def one_candidate_each(beam_size, rank):
    """Make the step that extends each text by its own best token only, once there are several texts."""

    def pruned(candidates, n_texts):
        ordered = sorted(candidates, key=lambda found: rank(*found), reverse=True)
        if n_texts == 1:
            return ordered[:beam_size]
        beginnings, best = set(), []
        for text, total in ordered:
            if tuple(text[:-1]) not in beginnings:
                beginnings.add(tuple(text[:-1]))
                best.append((text, total))
        return best

    return pruned


def best_of(number):
    """Make the step that lets another number of candidates go on."""
    return lambda beam_size, rank: (
        lambda candidates, n_texts: sorted(candidates, key=lambda found: rank(*found), reverse=True)[
            : number(beam_size)
        ]
    )


MISTAKES = [
    Mistake(
        "greedy",
        STEPS.but(start=lambda beam_size: [([], 0.0)] * beam_size),
        STEPS.but(pruned=best_of(lambda beam_size: 1)),
        does="the texts of the beam do not differ from one another, or there is only one",
        says=(
            "This is greedy decoding. Either a single text goes on from each round, or the beam begins with copies of "
            "the empty text: all have the same best continuation, so they stay copies of one another."
        ),
        hints=["Print the texts of the beam after the first round. How many different ones are there?"],
    ),
    Mistake(
        "beam_too_wide",
        STEPS.but(pruned=best_of(lambda beam_size: beam_size + 1)),
        STEPS.but(pruned=best_of(lambda beam_size: 2 * beam_size)),
        does="more than beam_size texts go on from a round",
    ),
    Mistake(
        "each_text_its_own_best",
        STEPS.but(pruned=one_candidate_each),
        does="each text goes on with its own best token, so that texts never compete",
        says=(
            "Each text in the beam goes on with its own best token. Two continuations of one text may both be better "
            "than any of another: the candidates of all texts should compete."
        ),
        hints=["After the second token, can two texts in the beam have the same first token? They should be able to."],
    ),
    Mistake(
        "least_likely",
        STEPS.but(rank=lambda: lambda text, total: -total),
        STEPS.but(
            extended=lambda: (
                lambda text, total, next_scores: [
                    ([*text, token], total - step) for token, step in enumerate(next_scores(text))
                ]
            )
        ),
        does="the *least* likely candidates go on",
    ),
    Mistake(
        "logits_added_up",
        STEPS.but(step_scores=lambda: lambda logits: logits.tolist()),
        does="logits are added up, not log-probabilities",
    ),
    Mistake(
        "probabilities_multiplied",
        STEPS.but(
            start=lambda: [([], 1.0)],
            step_scores=lambda: lambda logits: logits.softmax(dim=-1).tolist(),
            extended=lambda: (
                lambda text, total, next_scores: [
                    ([*text, token], total * step) for token, step in enumerate(next_scores(text))
                ]
            ),
        ),
        STEPS.but(
            scores=lambda lengths, penalties: (
                lambda text, total: torch.tensor(total).exp().item() / penalties(lengths(text))
            )
        ),
        does="the score of a text is made of its probability, not of its log-probability",
        says=(
            "The score divides a probability by the length penalty. That makes long texts *worse*, as a probability is "
            "positive; a log-probability is negative."
        ),
        hints=["Is −2 / 1.5 larger or smaller than −2? And 0.1 / 1.5 than 0.1?"],
    ),
    Mistake(
        "only_the_last_token_counts",
        STEPS.but(
            extended=lambda: (
                lambda text, total, next_scores: [
                    ([*text, token], step) for token, step in enumerate(next_scores(text))
                ]
            )
        ),
        does="the log-probability of a text is that of its last token alone",
    ),
    Mistake(
        "finished_texts_lost",
        STEPS.but(kept=lambda: lambda text, total, next_scores: []),
        STEPS.but(
            kept=lambda: lambda text, total, next_scores: [],
            stop=lambda finished: lambda beam: all(finished(text) for text, _ in beam),
        ),
        does="finished texts drop out of the beam",
        says="Texts that have ended drop out, and only the unfinished ones are left to choose from.",
        hints=["What should be a candidate in a round besides the longer texts?"],
    ),
    Mistake(
        "finished_texts_go_on",
        STEPS.but(finished=lambda: lambda text: False),
        STEPS.but(
            finished=lambda: lambda text: False,
            best=lambda best, eos_id: [[*text, eos_id][: [*text, eos_id].index(eos_id) + 1] for text in best],
            output=lambda output, max_length: output[:, :max_length],
        ),
        in_a_batch(frozen=False),
        does="texts are extended after their eos",
        says="Texts go on after their eos, and what follows changes their log-probability.",
        hints=["What does the model say after eos, and should it be asked?"],
    ),
    Mistake(
        "pays_for_every_eos",
        STEPS.but(kept=lambda eos_id: lambda text, total, next_scores: [(text, total + next_scores(text)[eos_id])]),
        STEPS.but(
            kept=lambda eos_id: lambda text, total, next_scores: [([*text, eos_id], total + next_scores(text)[eos_id])]
        ),
        does="a finished text pays for a further eos in every round",
        says=(
            "A finished text is filled up with eos, and the log-probability of each is added to its own: it gets "
            "worse from round to round. Once a text is finished, its log-probability stays."
        ),
        hints=["What should become of the log-probability of a finished text in later rounds?"],
    ),
    Mistake(
        "stops_at_the_first_end",
        STEPS.but(stop=lambda finished: lambda beam: any(finished(text) for text, _ in beam)),
        STEPS.but(
            stop=lambda finished: lambda beam: any(finished(text) for text, _ in beam),
            best=lambda beams, finished: [
                max(beam, key=lambda found: (finished(found[0]), found[1]))[0] for beam in beams
            ],
        ),
        STEPS.but(
            stop=lambda finished: lambda beam: any(finished(text) for text, _ in beam),
            output=lambda best, eos_id: to_the_longest(best, eos_id),
        ),
        in_a_batch(stops="any"),
        does="the search stops when the first text is finished",
        says=(
            "The search stops as soon as a text is finished. An unfinished one may still get the better score: a long "
            "text is divided by more."
        ),
        hints=["In which cases is it wrong: where a short text wins, or where a long one does?"],
    ),
    Mistake(
        "another_number_of_rounds",
        STEPS.but(n_rounds=lambda max_length: max_length - 1),
        STEPS.but(n_rounds=lambda max_length: max_length + 1),
        does="there is one round too few or too many",
    ),
    Mistake(
        "only_the_last_token_shown",
        STEPS.but(shown=lambda bos_id: lambda text: [bos_id, *text][-1:]),
        does="the model is shown only the last token of a text",
        says="The model is shown only the newest token. Without a cache, it remembers nothing of those before it.",
        hints=["What was the model shown in `greedy_decode`?"],
    ),
    Mistake(
        "bos_not_shown",
        STEPS.but(shown=lambda bos_id: lambda text: text or [bos_id]),
        does="bos is left out of what the model is shown, once there is a text",
        says="From the second round on, bos is gone from what the model is shown: all stands one position too early.",
        hints=["What was the first column of the target in training?"],
    ),
    Mistake(
        "logits_of_the_first_position",
        STEPS.but(logits=lambda model: lambda sentence, shown: model(sentence[None], torch.tensor([shown]))[0, 0]),
        does="the logits are those of the first position, not of the last",
    ),
    Mistake(
        "sources_in_another_order",
        in_a_batch(tiled=True),
        says=(
            "Right for one sentence. With several, texts are extended with the source of another sentence: the sources "
            "are repeated as A B A B, while the texts stand as A A B B."
        ),
        hints=[
            "Which row of the texts belongs to which sentence?",
            "`repeat` repeats the whole batch, `repeat_interleave` each sentence next to itself.",
            "`source.repeat_interleave(beam_size, dim=0)`.",
        ],
    ),
    Mistake(
        "sentences_compete",
        in_a_batch(over_the_batch=True),
        says=(
            "Right for one sentence. With several, the best texts are chosen among those of *all* sentences, so that "
            "one sentence takes the places of another."
        ),
        hints=[
            "How many texts of each sentence are in the beam after a round?",
            "Along which axes does the code look for the best candidates?",
            "(batch, beam_size · vocab_size): `topk(beam_size, dim=-1)`, row by row.",
        ],
    ),
    Mistake(
        "tokens_without_their_texts",
        *[in_a_batch(left=left) for left in ("t", "te", "tel", "tl")],
        says=(
            "The chosen tokens are appended to the texts in the order in which these happen to stand. A token belongs "
            "to the text that it continues."
        ),
        hints=[
            "If both of the best continuations are of text 0, what should stand in row 1 of the beam?",
            "The index of a candidate says two things: which token it is, and which text it continues.",
            "First `texts = texts[parents]`, then append the tokens; the same for what is known of the texts.",
        ],
    ),
    Mistake(
        "parents_from_the_beam_size",
        in_a_batch(by_the_beam_size=True),
        says=(
            "The index of a candidate is divided by `beam_size` to find the text it continues. But each text has as "
            "many candidates as there are tokens."
        ),
        hints=[
            "How many candidates does text 0 have? Which index has the first one of text 1?",
            "(beam_size, vocab_size) is read row by row.",
            "`best // vocab_size` is the text, `best % vocab_size` the token.",
        ],
    ),
]
