"""What goes wrong when a leak test runs the model and compares outputs."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_04_masks.leaks_future.answer import STEPS

MISTAKES = [
    Mistake(
        "wrong_way_round",
        STEPS.but(leaks=lambda moves: not any(moves)),
        does="the answer is turned round at the end",
        says="The answer is the wrong way round: True for models that do not leak, False for those that do.",
        hints=["`torch.allclose` is True if nothing moved. What does that mean for the answer?"],
    ),
    Mistake(
        "looks_at_what_comes_after",
        STEPS.but(watched=lambda: lambda outputs, position: outputs[:, position + 1 :]),
        does="the outputs after the changed position are compared",
        says="It watches what comes *after* the changed token. That is the past acting on the future, as it should.",
        hints=["The token at position 3 was changed. Whose future is it?"],
    ),
    Mistake(
        "looks_at_the_first_position_only",
        STEPS.but(watched=lambda: lambda outputs, position: outputs[:, :1]),
        does="only the output at the first position is watched",
        says="{does}: a leak into any other stays unseen.",
        hints=["Take a model that leaks into the third position. Is that one compared?"],
    ),
    Mistake(
        "stops_one_position_short",
        STEPS.but(watched=lambda: lambda outputs, position: outputs[:, : position - 1]),
        does="the output just before the changed position is not watched",
        says=(
            "The position just before the changed token is not watched, and there the commonest leak of all shows: a "
            "mask that is off by one. Look at where the slice ends."
        ),
        hints=["Which positions does `[:, :position - 1]` hold for position 1?"],
    ),
    Mistake(
        "first_sentence_only",
        STEPS.but(watched=lambda: lambda outputs, position: outputs[0, :position]),
        does="only the first sentence of the batch is tested",
        says="{does}. What leaks may depend on the tokens, and show in another sentence only. Look at the first index.",
        hints=["`tokens` has the shape (batch, n). What does `[0, position]` mean, and what `[:, position]`?"],
    ),
    Mistake(
        "stays_in_eval_mode",
        STEPS.but(answer=lambda leaks: leaks).attempt,
        does="the mode of the model is not set back",
        says=(
            "The answers are right, but the model stays in eval mode. Somebody in the middle of a training would train "
            "on without dropout. Look at what is done to the model after the last run."
        ),
        hints=[
            "Print `model.training` before a call and after it.",
            "Which mode it came in has to be known at the end, so it has to be noted at the beginning.",
            "`was_training = model.training` first, `model.train(was_training)` last.",
        ],
    ),
    Mistake(
        "stays_in_eval_mode_after_a_leak",
        STEPS.but(answer=lambda model, was_training, leaks: leaks or (model.train(was_training) and False)).attempt,
        does="the mode of the model is not set back where it leaks",
        says=(
            "The answers are right, and the mode is set back, but not where the model leaks: then it stays in eval "
            "mode. Look at where the function returns."
        ),
        hints=[
            "Print `model.training` before and after the call for a model that leaks.",
            "A `return` inside the loop skips all that stands after the loop.",
            "Note the result and return it at the end; or `model.train(was_training)` before every `return`.",
        ],
    ),
    Mistake(
        "always_back_to_training",
        STEPS.but(answer=lambda model, leaks: (model.train(), leaks)[1]).attempt,
        does="the model is put into training mode at the end, however it came",
        says=(
            "The answers are right, but at the end the model is put into training mode, even if it came in eval mode. "
            "It should be left as it was. Look at what `model.train()` is given."
        ),
        hints=[
            "Which mode does `model.train()` switch to? And `model.train(False)`?",
            "`model.training` says which mode it is in. When does it have to be asked?",
            "`was_training = model.training` first, `model.train(was_training)` last.",
        ],
    ),
    Mistake(
        "two_modes",
        STEPS.but(before=lambda model, tokens: model(tokens)),
        does="one of the two outputs comes from training mode, the other from eval mode",
        says=(
            "Of the two outputs that are compared, one comes from training mode and one from eval mode. Where these "
            "differ, an innocent model is accused. Look at when the mode is switched."
        ),
        hints=["Print `model.training` just before each run of the model."],
    ),
    Mistake(
        "equal_to_the_last_bit",
        STEPS.but(moved=lambda: lambda after, before: not torch.equal(after, before)),
        does="outputs are compared to the last bit",
        says="{does}. Two runs may add up in another order and differ by rounding, and an innocent model is accused.",
        hints=["How large is a difference that only comes from rounding, and how large one from another token?"],
    ),
    Mistake(
        "compares_the_best_tokens",
        STEPS.but(moved=lambda: lambda after, before: not torch.equal(after.argmax(dim=-1), before.argmax(dim=-1))),
        STEPS.but(moved=lambda: lambda after, before: not torch.allclose(after, before, atol=0.1)).attempt,
        does="a small difference does not count: by an `argmax`, or a wide tolerance",
        says=(
            "A small leak is missed: only the most likely token is compared, or the tolerance is wide. Training will "
            "make such a leak larger."
        ),
        hints=["If an output moves from 0.50 to 0.53, does an argmax notice, or a tolerance of 0.1?"],
    ),
    Mistake(
        "compares_sums",
        STEPS.but(moved=lambda: lambda after, before: bool((after - before).sum().abs() > 1e-4)),
        does="sums, means or norms of the outputs are compared, in which differences cancel",
        says=(
            "Sums, means or norms of the outputs are compared. One number goes up, another comes down, and the leak "
            "stays unseen; a model that normalises its outputs leaks like this everywhere. Look at what is compared."
        ),
        hints=["An output moves from (1, 0) to (0, 1). How far does its sum move? And its norm?"],
    ),
    Mistake(
        "only_upwards",
        STEPS.but(moved=lambda: lambda after, before: bool((after - before > 1e-4).any())),
        STEPS.but(moved=lambda: lambda after, before: bool((before - after > 1e-4).any())),
        STEPS.but(moved=lambda: lambda after, before: bool((after - before).sum() > 1e-4)),
        STEPS.but(moved=lambda: lambda after, before: bool((before - after).sum() > 1e-4)).attempt,
        does="differences are compared with a bound together with their signs",
        says=(
            "The differences keep their signs, and an output that moves the other way is below every bound. Look at "
            "what happens to the signs before the comparison."
        ),
        hints=["An output moves from 8 to 0. What is `after - before`, and is it greater than 0.0001?"],
    ),
]
