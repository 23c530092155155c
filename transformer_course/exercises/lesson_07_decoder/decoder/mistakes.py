"""Mistakes in what each layer is given of the memory, and in where the target begins."""

from torch.nn import functional as F

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_07_decoder.decoder.answer import STEPS

MISTAKES = [
    Mistake(
        "memory_from_layer_to_layer",
        STEPS.but(source=lambda memory: lambda number, x: x if number else memory),
        STEPS.but(
            layer_output=lambda first_input, memory, layer_mask, source_mask: (
                lambda layer, number, x: layer(
                    first_input, x if number else memory, layer_mask(number), source_mask(number)
                )
            )
        ),
        does="from the second layer on, the output of the layer before is given as the memory",
        says=(
            "The memory is replaced on the way: from the second layer on, the cross-attention reads the output of the "
            "decoder's own layers. Every layer reads the same memory. Look at what is assigned in the loop."
        ),
        hints=["What does the second layer get as its memory?"],
    ),
    Mistake(
        "x_and_memory_swapped",
        STEPS.but(
            layer_output=lambda memory, layer_mask, source_mask: (
                lambda layer, number, x: layer(memory, x, layer_mask(number), source_mask(number))
            )
        ),
        does="`x` and the memory are exchanged in the call of the layers",
        says="{does}: the result has as many positions as the source.",
        hints=["Which shape comes out, and which is asked for?"],
    ),
    Mistake(
        "reads_itself",
        STEPS.but(source=lambda: lambda number, x: x),
        does="the layers are given the target in place of the memory",
        says="{does}: whatever the source says, the output is the same. Look at the second argument.",
        hints=["Where does `memory` occur in the loop?"],
    ),
    Mistake(
        "positions_of_the_memory",
        STEPS.but(length=lambda memory: memory.shape[1]),
        does="the rows of the table are counted by the length of the memory",
        says=(
            "As many positions are taken as the *memory* has rows. They are added to the target, and the two lengths "
            "have nothing to do with each other. Look at what is measured."
        ),
        hints=["To which sequence are the positions added, and how long is it?"],
    ),
    Mistake(
        "shifted_inside",
        STEPS.but(tokens=lambda tokens: F.pad(tokens, (1, -1))),
        STEPS.but(tokens=lambda tokens: tokens.roll(1, 1)).attempt,
        does="the tokens are shifted inside the decoder",
        says=(
            "{does}. The caller has done that already, or, when the model generates, must not do it at all. Look at "
            "what happens to the tokens."
        ),
        hints=["What does the decoder read at its first position?"],
    ),
]
