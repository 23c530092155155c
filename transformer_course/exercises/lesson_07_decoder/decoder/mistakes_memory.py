"""Mistakes in what each layer is given of memory and masks, which only a decoder has two of."""

from torch.nn import functional as F

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_07_decoder.decoder.answer import STEPS

CALL = "layer(x, memory, mask, memory_mask)"

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
        "counted_on_from_the_memory",
        STEPS.but(encodings=lambda self, memory, length: self.positions[memory.shape[1] : memory.shape[1] + length]),
        does="the positions of the target are counted on from the end of the memory",
        says=(
            "The positions of the target are counted on from where the memory ends. The two are separate sequences, "
            "and each begins at 0. Look at which rows of the table are taken."
        ),
        hints=["Which row of the table does the first token of the target get?"],
    ),
    Mistake(
        "no_masks",
        STEPS.but(layer_mask=lambda: lambda number: None, source_mask=lambda: lambda number: None),
        does="the layers are given neither of the two masks",
    ),
    Mistake(
        "masks_swapped",
        STEPS.but(
            layer_mask=lambda memory_mask: lambda number: memory_mask, source_mask=lambda mask: lambda number: mask
        ),
        does="the two masks are exchanged on their way to the layers",
    ),
    Mistake(
        "one_mask_for_both",
        STEPS.but(source_mask=lambda mask: lambda number: mask),
        does="`mask` stands in the place of `memory_mask`",
    ),
    Mistake(
        "memory_mask_in_its_place",
        STEPS.but(layer_mask=lambda memory_mask: lambda number: memory_mask),
        STEPS.but(layer_mask=lambda memory_mask: lambda number: memory_mask, source_mask=lambda: lambda number: None),
        does="`memory_mask` stands in the place of `mask`",
        says=(
            "The mask of the memory stands where that of the target belongs, and hides positions of the target. Look "
            "at the third argument of the layers."
        ),
        hints=["In which order does the layer take its masks?"],
    ),
    Mistake(
        "x_and_memory_swapped",
        STEPS.but(
            layer_output=lambda memory, layer_mask, source_mask: (
                lambda layer, number, x: layer(memory, x, layer_mask(number), source_mask(number))
            )
        ),
        STEPS.but(
            layer_output=lambda memory, layer_mask, source_mask: (
                lambda layer, number, x: layer(memory, x, source_mask(number), layer_mask(number))
            )
        ).attempt,
        does="`x` and the memory are exchanged in the call of the layers",
        says=(
            "The target and the memory are exchanged: the result has as many positions as the source. Look at the "
            "order of the arguments."
        ),
        hints=["Which shape comes out, and which is asked for?"],
    ),
    Mistake(
        "reads_itself",
        STEPS.but(source=lambda: lambda number, x: x),
        STEPS.but(source=lambda first_input: lambda number, x: first_input),
        STEPS.but(source=lambda: lambda number, x: x, source_mask=lambda mask: lambda number: mask).attempt,
        does="the layers are given the target in place of the memory",
        says=(
            "The layers read the target in place of the memory: whatever the source says, the output is the same. Look "
            "at the second argument."
        ),
        hints=["Where does `memory` occur in the loop?"],
    ),
    Mistake(
        "no_memory",
        STEPS.but(layer_output=lambda mask, memory_mask: lambda layer, number, x: layer(x, mask, memory_mask)).attempt,
        STEPS.but(
            layer_output=lambda mask, memory_mask: lambda layer, number, x: layer(x, mask=mask, memory_mask=memory_mask)
        ).attempt,
        says=(
            "The layers are not given the memory: they lack an argument, or take a mask for it. Look at their "
            "arguments."
        ),
        hints=[
            "What are the first two arguments of a layer?",
            "The encoder's output comes right after x.",
            f"`{CALL}`.",
        ],
    ),
    Mistake(
        "memory_given_positions",
        STEPS.but(memory=lambda self, memory: memory + self.positions[: memory.shape[1]]),
        does="positional encodings are added to the memory",
        says=(
            "{does}. The encoder has added them to its input; its output is read as it is. Look at what is done to the "
            "memory."
        ),
        hints=["What comes in as `memory`: embeddings, or the output of an encoder?"],
    ),
    Mistake(
        "memory_scaled",
        STEPS.but(memory=lambda memory, factor: memory * factor),
        does="the memory is multiplied by the factor of the embeddings",
        says=(
            "The memory is scaled as the embeddings are. It is the output of an encoder, and is read as it is. Look at "
            "what is done to the memory."
        ),
        hints=["What comes in as `memory`: embeddings, or the output of an encoder?"],
    ),
    Mistake(
        "memory_normed",
        STEPS.but(memory=lambda memory: F.layer_norm(memory, memory.shape[-1:])),
        does="the memory is normalised",
        says="{does}. The encoder's last layer has done that. Look at what is done to the memory.",
        hints=["What comes in as `memory`: embeddings, or the output of an encoder?"],
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
        STEPS.but(tokens=lambda tokens: F.pad(tokens, (-1, 1))).attempt,
        STEPS.but(tokens=lambda tokens: tokens.roll(1, 1)).attempt,
        STEPS.but(embedded=lambda embedded: F.pad(embedded, (0, 0, 1, -1))).attempt,
        does="the tokens are shifted inside the decoder",
        says=(
            "{does}. The caller has done that already, or, when the model generates, must not do it at all. Look at "
            "what happens to the tokens."
        ),
        hints=["What does the decoder read at its first position?"],
    ),
    Mistake(
        "memory_returned_too",
        STEPS.but(output=lambda outputs, memory: (outputs[-1], memory)),
        does="the memory is returned as well",
        says="{does}. Only the output of the last layer is asked for.",
        hints=["How many things does the annotation say are returned?"],
    ),
]
