"""Greedy decoding of a translation."""

from typing import Any

import torch
from jaxtyping import Int
from torch import Tensor, nn
from torch.nn import functional as F

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared import generation_mistakes
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.exercises.shared.generation_steps import logits, next_logits, output, shown
from transformer_course.running.case import Case
from transformer_course.running.stand_in_models import describe_model
from transformer_course.steps import InSteps


def greedy_decode(
    model: nn.Module, source: Int[Tensor, "batch n"], bos_id: int, eos_id: int, max_length: int
) -> Int[Tensor, "batch n_written"]:
    """Generate the likeliest next token up to max_length times; the output includes eos, but not bos."""
    target = torch.full((len(source), 1), bos_id)
    ended = torch.zeros(len(source), dtype=torch.bool)
    for _ in range(max_length):
        best = model(source, target)[:, -1].argmax(dim=-1)
        best = torch.where(ended, eos_id, best)  # a finished sentence gets only eos
        target = torch.cat([target, best[:, None]], dim=1)
        ended = ended | (best == eos_id)
        if ended.all():
            break
    return target[:, 1:]


def start(source, bos_id):
    """start every sentence with bos → the initial target: a column of bos"""
    return torch.full((len(source), 1), bos_id)


def choice():
    """choose the likeliest token of each sentence → the chosen tokens, (batch,)"""
    return lambda next_logits: next_logits.argmax(dim=-1)


def tokens(eos_id):
    """replace the token with eos in finished sentences → the new tokens, (batch,)"""
    return lambda chosen, ended: torch.where(ended, eos_id, chosen)


def ended(eos_id):
    """mark the sentences that have generated eos → the mask of the finished sentences, (batch,)"""
    return lambda ended, tokens, chosen: ended | (tokens == eos_id)


def target():
    """append the new tokens as a column → the extended target: one column longer"""
    return lambda target, tokens: torch.cat([target, tokens[:, None]], dim=1)


def stop():
    """stop when all sentences have ended → whether the loop stops → the stopping condition"""
    return lambda ended, tokens, target: ended.all()


def n_rounds(max_length):
    """repeat at most max_length times → the number of iterations"""
    return max_length


def written(source, start, shown, logits, next_logits, choice, tokens, ended, target, stop, n_rounds):
    """run the loop → the target after the loop: bos and the generated tokens"""
    so_far, over = start, torch.zeros(len(source), dtype=torch.bool)
    for _ in range(n_rounds):
        chosen = choice(next_logits(logits(shown(so_far))))
        new = tokens(chosen, over)
        over = ended(over, new, chosen)
        so_far = target(so_far, new)
        if stop(over, new, so_far):
            break
    return so_far


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
"""Maximum number of target tokens for the models in the cases."""


def padded(output: Any, case: Case) -> Any:
    """Pad an output to the maximum length if all its sentences have ended, because stopping early is optional."""
    eos_id, max_length = case.inputs["eos_id"], case.inputs["max_length"]
    if not isinstance(output, Tensor) or output.dim() != 2 or not (output == eos_id).any(dim=1).all():
        return output
    return F.pad(output, (0, max(max_length - output.shape[1], 0)), value=eos_id)


def greedy_decode_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(ends, max_length, shows):
        """Return a case whose model follows a walk of tokens with decreasing confidence.

        ``ends`` contains the round in which each sentence ends, or None. The last token of the walk and ``lure`` are
        decoys, which a correct answer never reads. The model predicts the last token after eos, and after bos at any
        position except the first, which catches answers that prepend tokens. It predicts ``lure`` after any other token
        at the first position, which catches answers that pass only the newest token.
        """
        bos, eos, lure, *walk = (1 + torch.randperm(VOCAB_SIZE - 1, generator=rng)).tolist()
        transition = normal(rng, VOCAB_SIZE, VOCAB_SIZE)
        reading = torch.zeros(VOCAB_SIZE, VOCAB_SIZE)
        places = torch.zeros(N_PLACES, VOCAB_SIZE)
        for t, (here, there) in enumerate(zip([bos, *walk], walk, strict=False)):
            transition[here, there] += 100 - 10 * t
            reading[there, eos] = (105 - 10 * t) / N_SOURCE  # makes eos likelier than the walk's token in this round
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
        """Draw all tables at random, with a different source for each sentence."""
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
        case([None], 4, "4 tokens without eos"),
        case([2], 5, "a sentence that ends early"),
        case([0], 3, "a sentence that ends at once"),
        with_zero,
        case([None, 2], 6, "2 sentences, the second of which ends early"),
        case([1, 4], 7, "2 sentences, the first of which ends first"),
        unsure(),
        case([2, None, 0, 5, 1], 8, "5 sentences, of which 4 end at different times"),
    ]


MISTAKES = [
    generation_mistakes.newest_token_only(STEPS),
    Mistake(
        "reads_the_position_before_the_last",
        STEPS.but(next_logits=lambda: lambda logits: logits[:, max(logits.shape[1] - 2, 0)]),
        summary="you take the logits of the position before the last",
        message=(
            "From the second iteration on, you take the logits of the position before the last, so you predict the "
            "newest token a second time. Which position predicts the next token?"
        ),
        hints=["The target is bos, 5, 8. Which position predicts the token after 8?"],
    ),
    Mistake(
        "best_position",
        STEPS.but(
            next_logits=lambda: lambda logits: logits,
            choice=lambda: lambda logits: logits.argmax(dim=1)[:, -1],
        ),
        summary="you take the argmax over the positions instead of the vocabulary",
        message="{summary}, so you return a *position* as if it were a token. Which `dim` is the vocabulary?",
        hints=[
            "The logits have shape (batch, n, vocab_size). What does dimension 1 stand for?",
            "Take the logits of the last position first. Their shape is (batch, vocab_size), so take the argmax over "
            "the last dimension.",
            "`logits[:, -1].argmax(dim=-1)`.",
        ],
    ),
    generation_mistakes.source_as_target(STEPS),
    Mistake(
        "the_logits_themselves",
        STEPS.but(choice=lambda: lambda next_logits: next_logits.amax(dim=-1)),
        summary="you use the largest *logit* as the token",
        message=(
            "{summary}: for the logits 0.1 and 0.7, you append 0.7 instead of token 1. Which function returns the "
            "*index* of the largest logit?"
        ),
        hints=["What is `torch.tensor([0.1, 0.7]).max()`, and what is `torch.tensor([0.1, 0.7]).argmax()`?"],
    ),
    Mistake(
        "leaves_the_model_in_eval_mode",
        STEPS.but(model=lambda model: model.eval()).attempt,
        message=(
            "Your tokens are right, but you leave the model in eval mode. If you call your function during training, "
            "training continues without dropout. Does this function need to change the mode?"
        ),
        hints=[
            "Print `model.training` before and after you call your function. Should it change?",
            "This exercise doesn't ask for a mode: you can use the model as it is.",
            "Leave `model.eval()` out, or call `model.train(was_training)` at the end.",
        ],
    ),
    Mistake(
        "stops_before_the_end_is_written",
        STEPS.but(
            output=lambda written, eos_id: (
                written[:, 1:-1] if (written[:, 1:] == eos_id).any(1).all() else written[:, 1:]
            )
        ),
        summary="you stop before you append the eos that ends the last sentence",
        message=(
            "{summary}, so its eos is missing from the output. Which should come first, appending the new tokens or "
            "checking for eos?"
        ),
        hints=["One sentence ends with eos as its third token. Which tokens should you return?"],
    ),
    Mistake(
        "last_column_cut_off",
        STEPS.but(output=lambda written: written[:, 1:-1]),
        summary="you drop the last token of each row",
        message="{summary}: with max_length = 1, you return no tokens. Which token of each row should you remove?",
        hints=["Which columns does your slice keep, and which column holds bos?"],
    ),
    Mistake(
        "looks_at_the_first_sentence_only",
        STEPS.but(stop=lambda: lambda ended, tokens, target: ended[0]),
        summary="you stop when the *first* sentence has ended",
        message="{summary}, so you cut off longer sentences. When may the loop stop?",
        hints=["The first sentence has 2 tokens and the second has 5. How many iterations are needed?"],
    ),
    generation_mistakes.target_of_floats(STEPS),
    Mistake(
        "filled_up_with_zero",
        STEPS.but(tokens=lambda: lambda chosen, ended: chosen.masked_fill(ended, 0)),
        summary="you pad finished sentences with token 0 instead of eos",
        message=(
            "You pad finished sentences with token 0, but token 0 may be an ordinary word. Which token marks the end "
            "of a sentence?"
        ),
        hints=["Which token should follow the end of a sentence?"],
    ),
    Mistake(
        "finished_sentences_forgotten",
        STEPS.but(
            tokens=lambda: lambda chosen, ended: chosen,
            ended=lambda eos_id: lambda ended, tokens, chosen: tokens == eos_id,
        ),
        summary="you don't keep track of which sentences have ended",
        message=(
            "{summary}, so finished sentences continue, and your loop stops only if all sentences generate eos in the "
            "same iteration. What should you store for each sentence?"
        ),
        hints=["The first sentence ends in iteration 2 and the second in iteration 5. When does your loop stop?"],
    ),
]


EXERCISE = Exercise(
    reference=greedy_decode,
    steps=STEPS,
    cases=greedy_decode_cases,
    points=3,
    verified="The model gets all tokens generated so far in every iteration, and each sentence ends at its own eos.",
    hints=[
        "Take one sentence. What is its target before the first iteration, and what is it after the second?",
        "Start with one column of bos for all sentences: `torch.full((len(source), 1), bos_id)`. In each "
        "iteration, call the model, choose a token and append it.",
        "`model(source, target)` returns logits for every position, (batch, n, vocab_size). The *last* position "
        "predicts the next token: `[:, -1].argmax(dim=-1)`. Append it with `torch.cat([target, best[:, None]], "
        "dim=1)`.",
        "Keep one bool for each sentence: whether it has ended. For finished sentences, replace the chosen token with "
        "eos: `torch.where(ended, eos_id, best)`.",
        "After max_length iterations, or as soon as `ended.all()`, return `target[:, 1:]`: everything but bos.",
    ],
    messages={
        "call_left_out_written: chosen": Wording(
            "{summary}, so a finished sentence continues with meaningless tokens: with an eos of 4, you may return "
            "4, 2, 4, 2 instead of 4, 4, 4, 4. What should follow eos?",
            summary="you don't pad finished sentences with eos",
            hints=["The first sentence has ended and the second hasn't. Which token should each get next?"],
        ),
        "sibling_stop: ended.any()": Wording(
            "{summary}, so you cut off longer sentences. When may the loop stop?",
            summary="you stop as soon as *any* sentence has ended",
            hints=["The first sentence has 2 tokens and the second has 5. How many iterations are needed?"],
        ),
        "slice_next_logits: logits[:, 0]": Wording(
            "You take the logits of the first position, so every iteration chooses the same token, the one after bos. "
            "Which position predicts the next token?",
            summary="you take the logits of the first position instead of the last",
            hints=["The target is bos, 5, 8. Which position predicts the token after 8?"],
        ),
        "left_out_output": Wording(
            "{summary}, although the model did not generate it. Which column should you leave out?",
            summary="you also return bos",
            hints=["With max_length = 1, how many tokens should you return for each sentence? How many do you return?"],
        ),
        "range_written: range(n_rounds - 1)": Wording(
            "{summary}, so no sentence reaches `max_length` tokens: with `max_length` = 1, you return no tokens. How "
            "many iterations should the loop make?",
            summary="your loop makes one iteration too few",
            hints=["How many tokens does each iteration add? How many tokens may a sentence have?"],
        ),
        "range_written: range(n_rounds + 1)": Wording(
            "{summary}, so a sentence can have one token more than `max_length` allows. With `max_length` = 1, how "
            "many tokens should you return?",
            summary="your loop makes one iteration too many",
            hints=["How many tokens does each iteration add? How many tokens may a sentence have, not counting bos?"],
        ),
        "comparison_ended": Wording(
            "{summary}, so your loop usually stops after the first token. Which token ends a sentence?",
            summary="you mark a sentence as finished if its token is *not* eos",
            hints=["After the first iteration, which sentences are finished in your code, and which should be?"],
        ),
        "parts_exchanged_target": Wording(
            "You put the new tokens in front of the target, so the target is in reverse order and its last token is "
            "always bos. At which end should you add a new token?",
            summary="you put the new tokens in front of the target instead of at its end",
            hints=["The target is bos, 5 and the new token is 8. Which three tokens should the model read next?"],
        ),
        "ignored_bos_id: 1": (
            Wording(
                "You start with token 1 instead of `bos_id`, but in training every target began with bos. Where "
                "should you use `bos_id`?",
                summary="you start with token 1 instead of `bos_id`",
                hints=["If `bos_id` is 9, which token should the model read first? Which token does it read?"],
            )
        ),
        "number_start: 0": (
            Wording(
                "Your target is empty in the first iteration, so the model has no last position to predict from. "
                "Which token should every target start with?",
                summary="you start with an empty target",
                hints=["For 3 sentences, what shape should the target have before the first iteration?"],
            )
        ),
        "left_out_logits: model": (
            Wording(
                "You call the model with one argument, but it takes two: the source and the tokens generated so far. "
                "Which argument is missing?",
                summary="you call the model with only one argument",
                hints=[
                    "Which tokens influence the next token: the tokens of the source, the tokens generated so far, or "
                    "both?"
                ],
            )
        ),
        "not_indexed_target": (
            Wording(
                "You append a tensor of shape (batch,) to a target of shape (batch, n), so `torch.cat` raises an "
                "error. The new tokens should form a column. What shape does a column have?",
                summary="you append a tensor of shape (batch,) instead of a column",
                hints=[
                    "A target has shape (3, 2). What shape should the new tokens have so that the extended target has "
                    "shape (3, 3)?",
                ],
            )
        ),
        "axis_target: torch.cat([target, tokens[:, None]], dim=0)": (
            Wording(
                "You append the tokens along dim 0, below the target, so they become additional rows. Along which "
                "`dim` should a target grow?",
                summary="you append the tokens along dim 0 instead of dim 1",
                hints=["With 2 sentences, what shape should the target have after the first iteration?"],
            )
        ),
        "ignored_max_length: 64": (
            Wording(
                "Your loop doesn't stop at `max_length`. Some sentences never generate eos, so the model runs out of "
                "positions. Where should you use `max_length`?",
                summary="your loop doesn't stop at `max_length`",
                hints=["How many iterations does your loop make if no sentence ever ends?"],
            )
        ),
    },
    mistakes=MISTAKES,
    normalize=padded,
)
