"""Write a translation, one likeliest token after another."""

from typing import Any

import torch
from jaxtyping import Int
from torch import Tensor, nn
from torch.nn import functional as F

from transformer_course.exercise import Exercise, Mistake
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case
from transformer_course.running.stand_in_models import describe_model
from transformer_course.steps import InSteps


def greedy_decode(
    model: nn.Module, source: Int[Tensor, "batch n"], bos_id: int, eos_id: int, max_length: int
) -> Int[Tensor, "batch n_written"]:
    """Write the likeliest next token up to max_length times; the bos is not part of the output, the eos is."""
    target = torch.full((len(source), 1), bos_id)
    ended = torch.zeros(len(source), dtype=torch.bool)
    for _ in range(max_length):
        best = model(source, target)[:, -1].argmax(dim=-1)
        best = torch.where(ended, eos_id, best)  # after the end, only the end
        target = torch.cat([target, best[:, None]], dim=1)
        ended = ended | (best == eos_id)
        if ended.all():
            break
    return target[:, 1:]


def start(source, bos_id):
    """begin every sentence with bos → the target before the first round: a column of bos"""
    return torch.full((len(source), 1), bos_id)


def shown():
    """show the model all that has been generated → what the model is shown of the target"""
    return lambda target: target


def logits(model, source):
    """call the model on the source and on what it is shown → the logits of every position, (batch, n, vocab_size)"""
    return lambda shown: model(source, shown)


def next_logits():
    """take the logits of the last position → the logits of the next token, (batch, vocab_size)"""
    return lambda logits: logits[:, -1]


def choice():
    """choose the likeliest token of each sentence → the chosen tokens, (batch,)"""
    return lambda next_logits: next_logits.argmax(dim=-1)


def tokens(eos_id):
    """replace it by eos where the sentence has ended → the tokens that are written, (batch,)"""
    return lambda chosen, ended: torch.where(ended, eos_id, chosen)


def ended(eos_id):
    """remember which sentences have generated eos → the mask of the sentences that have ended, (batch,)"""
    return lambda ended, tokens, chosen: ended | (tokens == eos_id)


def target():
    """append the tokens as a column → the target, one column longer"""
    return lambda target, tokens: torch.cat([target, tokens[:, None]], dim=1)


def stop():
    """stop when all sentences have ended → whether the loop stops"""
    return lambda ended, tokens, target: ended.all()


def n_rounds(max_length):
    """go round at most max_length times → the number of rounds"""
    return max_length


def written(source, start, shown, logits, next_logits, choice, tokens, ended, target, stop, n_rounds):
    """repeat → the target after the last round, with its bos"""
    so_far, over = start, torch.zeros(len(source), dtype=torch.bool)
    for _ in range(n_rounds):
        chosen = choice(next_logits(logits(shown(so_far))))
        new = tokens(chosen, over)
        over = ended(over, new, chosen)
        so_far = target(so_far, new)
        if stop(over, new, so_far):
            break
    return so_far


def output(written):
    """leave the bos out → the tokens that were written"""
    return written[:, 1:]


STEPS = InSteps(
    start,
    shown,
    logits,
    next_logits,
    choice,
    tokens,
    ended,
    target,
    stop,
    n_rounds,
    written,
    output,
    reference=greedy_decode,
)


VOCAB_SIZE, N_SOURCE = 13, 2
N_PLACES = 9
"""So many target tokens the models of the cases can read."""


def padded(output: Any, case: Case) -> Any:
    """Let every output in which all sentences have ended be as long as is allowed: when to stop then is left open."""
    eos_id, max_length = case.inputs["eos_id"], case.inputs["max_length"]
    if not isinstance(output, Tensor) or output.dim() != 2 or not (output == eos_id).any(dim=1).all():
        return output
    return F.pad(output, (0, max(max_length - output.shape[1], 0)), value=eos_id)


def greedy_decode_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(ends, max_length, shows):
        """Walk from token to token, less and less surely; a source may say that eos comes in some round.

        The last token of the walk is never seen: it would follow the end, the lure, and bos at any place but the first,
        where those see it who append in front. At the first place the lure follows all else, which is what those
        write who always look from there.
        """
        bos, eos, lure, *walk = (1 + torch.randperm(VOCAB_SIZE - 1, generator=rng)).tolist()
        transition = normal(rng, VOCAB_SIZE, VOCAB_SIZE)
        reading = torch.zeros(VOCAB_SIZE, VOCAB_SIZE)
        places = torch.zeros(N_PLACES, VOCAB_SIZE)
        for t, (here, there) in enumerate(zip([bos, *walk], walk, strict=False)):
            transition[here, there] += 100 - 10 * t
            reading[there, eos] = (105 - 10 * t) / N_SOURCE  # likelier than what the walk says in this round
        transition[bos, walk[0]] += 300
        reading[walk[0], eos] += 300 / N_SOURCE
        transition[eos, walk[-1]] += 600
        transition[bos, walk[-1]] += 390
        transition[lure, walk[-1]] += 300
        places[1:, walk[-1]] = 20.0
        places[0, lure] = 200.0
        source = torch.tensor([[lure if end is None else walk[end]] * N_SOURCE for end in ends])
        model = describe_model("table_translator", transition=transition, reading=reading, places=places)
        return Case({"model": model, "source": source, "bos_id": bos, "eos_id": eos, "max_length": max_length}, shows)

    def unsure():
        """Draw everything; each sentence has a source of its own."""
        tables = {"transition": (VOCAB_SIZE, VOCAB_SIZE), "reading": (VOCAB_SIZE, VOCAB_SIZE)}
        tables |= {"places": (N_PLACES, VOCAB_SIZE)}
        model = describe_model("table_translator", **{name: normal(rng, *shape) for name, shape in tables.items()})
        source = torch.randperm(VOCAB_SIZE, generator=rng)[:6].view(3, 2)
        bos, eos = (1 + torch.randperm(VOCAB_SIZE - 1, generator=rng)[:2]).tolist()
        inputs = {"model": model, "source": source, "bos_id": bos, "eos_id": eos, "max_length": 6}
        return Case(inputs, "3 sentences, and a model that is never sure")

    with_zero = case([None], 5, "a sentence with token 0 and bos in it")
    transition, bos = with_zero.inputs["model"]["tables"]["transition"], with_zero.inputs["bos_id"]
    first = int(transition[bos].argmax())
    transition[first, 0] += 250
    transition[0, bos] += 250
    return [
        case([None], 1, "one token"),
        case([None], 4, "4 tokens without an end"),
        case([2], 5, "a sentence that ends early"),
        case([0], 3, "a sentence that ends at once"),
        with_zero,
        case([None, 2], 6, "2 sentences, the second of which ends early"),
        case([1, 4], 7, "2 sentences, the first of which ends first"),
        unsure(),
        case([2, None, 0, 5, 1], 8, "5 sentences, of which 4 end at different times"),
    ]


MISTAKES = [
    Mistake(
        "shows_the_newest_token_only",
        STEPS.but(shown=lambda: lambda target: target[:, -1:]),
        summary="the model is shown the newest token alone",
        message=(
            "The first token is right, the others are not: {summary}. For it, that stands at the first position, and "
            "nothing was generated before."
        ),
        hints=["What shape does the target have that the model gets in the third round? It should have three columns."],
    ),
    Mistake(
        "reads_the_position_before_the_last",
        STEPS.but(next_logits=lambda: lambda logits: logits[:, max(logits.shape[1] - 2, 0)]),
        summary="the logits are those of the position before the last",
        message="From the second round on, the logits of the position before the last are taken: tokens come twice.",
        hints=["Which position speaks of the token that is not there yet?"],
    ),
    Mistake(
        "best_position",
        STEPS.but(
            next_logits=lambda: lambda logits: logits,
            choice=lambda: lambda logits: logits.argmax(dim=1)[:, -1],
        ),
        summary="the choice runs over the positions, not over the vocabulary",
        message="What is chosen is a *position*, not a token: `argmax` runs along the positions.",
        hints=["The logits have the shape (batch, n, vocab_size). Which axis is 1?"],
    ),
    Mistake(
        "the_decoder_gets_the_source",
        STEPS.but(logits=lambda model, source: lambda shown: model(source, source)),
        summary="the model is given the source as its target",
        message="The model is given the source twice. What has been generated so far never reaches it.",
        hints=["Does what the model says depend on what has been generated?"],
    ),
    Mistake(
        "the_logits_themselves",
        STEPS.but(choice=lambda: lambda next_logits: next_logits.amax(dim=-1)),
        summary="the largest *logit* is taken, not its token",
        message="{summary}. The *place* of the largest is the token.",
        hints=["What is `torch.tensor([0.1, 0.7]).max()`? And the likeliest token?"],
    ),
    Mistake(
        "leaves_the_model_in_eval_mode",
        STEPS.but(model=lambda model: model.eval()).attempt,
        message=(
            "The tokens are right, but the model is left in another mode than it came in: in eval mode, a model that "
            "is being trained goes on without its dropout."
        ),
        hints=[
            "What is `model.training` before the call, and after it?",
            "Nothing is asked about the mode: the model may be used as it is.",
            "Leave `model.eval()` out, or call `model.train(was_training)` in the end.",
        ],
    ),
    Mistake(
        "stops_before_the_end_is_written",
        STEPS.but(
            output=lambda written, eos_id: (
                written[:, 1:-1] if (written[:, 1:] == eos_id).any(1).all() else written[:, 1:]
            )
        ),
        summary="when the last sentence ends, its eos is not appended any more",
        message=(
            "When the last sentence ends, its eos is not generated any more: the loop stops first. Eos is a token like "
            "any other, and part of the output."
        ),
        hints=["What comes out for a single sentence that ends after 3 tokens?"],
    ),
    Mistake(
        "last_column_cut_off",
        STEPS.but(output=lambda written: written[:, 1:-1]),
        summary="the last token of each row is cut off",
        message="{summary}. Only the bos should be left out, which stands in front. Look at what is returned.",
        hints=["With max_length = 1, how many tokens should come out?"],
    ),
    Mistake(
        "looks_at_the_first_sentence_only",
        STEPS.but(stop=lambda: lambda ended, tokens, target: ended[0]),
        summary="the loop stops when the *first* sentence has ended",
        message="The end of the first sentence decides for all: when it has ended, the others are cut off.",
        hints=["What becomes of a long sentence, if the first one of the batch is short?"],
    ),
    Mistake(
        "filled_up_with_zero",
        STEPS.but(tokens=lambda: lambda chosen, ended: chosen.masked_fill(ended, 0)),
        summary="sentences that have ended are filled up with token 0, and not with eos",
        hints=["What should fill up the sentences that have ended?"],
    ),
]


EXERCISE = Exercise(
    reference=greedy_decode,
    steps=STEPS,
    cases=greedy_decode_cases,
    points=3,
    verified="Every step sees all that has been generated, and every sentence ends by itself.",
    hints=[
        "Begin with a target of one column, bos, for every sentence: `torch.full((len(source), 1), bos_id)`. One round "
        "of the loop: call the model, choose, append.",
        "`model(source, target)` has logits for every position, (batch, n, vocab_size). The next token is what the "
        "*last* position says: `[:, -1].argmax(dim=-1)`. Append it with `torch.cat([target, best[:, None]], dim=1)`.",
        "Remember which sentences have ended: a bool for each. For these, the chosen token is replaced by eos: "
        "`torch.where(ended, eos_id, best)`.",
        "After at most max_length rounds, or when `ended.all()`, return `target[:, 1:]`: all but the bos.",
    ],
    messages={
        "ignored_bos_id: 1": (
            "The writing begins with token 1. In training, every target began with bos, and its id is an argument."
        ),
        "number_start: 0": (
            "In the first round the model is shown no token, so there is no last position whose logits could be taken."
        ),
        "wrong_input_written: logits": (
            "The target begins with floats. Token ids are whole numbers: with floats, nothing can be looked up."
        ),
        "left_out_logits: model": (
            "The model is called with one argument. It takes two: what it reads, and what has been generated."
        ),
        "not_indexed_target": (
            "The chosen tokens have one axis, the target has two: what is appended should be a column, one "
            "token for each sentence."
        ),
        "axis_target: torch.cat([target, tokens[:, None]], dim=0)": (
            "The chosen tokens are joined below what has been generated, as if they were further sentences."
        ),
        "ignored_max_length: 64": (
            "It writes until all sentences have ended. Some never do: a model that has learned little goes on "
            "for ever, and here it runs out of positions."
        ),
    },
    mistakes=MISTAKES,
    normalize=padded,
)
