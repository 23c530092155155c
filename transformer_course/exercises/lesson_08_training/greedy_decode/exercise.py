"""Write a translation, one likeliest token after another."""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_08_training.greedy_decode.answer import STEPS, greedy_decode
from transformer_course.exercises.lesson_08_training.greedy_decode.mistakes import MISTAKES
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case
from transformer_course.running.stand_in_models import describe_model

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


GREEDY_DECODE = Exercise(
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
    told={
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
    normalise=padded,
)
