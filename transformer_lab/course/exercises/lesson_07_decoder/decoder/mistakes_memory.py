"""Mistakes in what each layer is given of memory and masks."""

import torch

from transformer_lab.course.exercise import Mistake
from transformer_lab.course.exercises.lesson_07_decoder.decoder.mistake_template import InPieces


class MemoryFromLayerToLayer(InPieces):
    def forward(self, tokens, memory, mask=None, memory_mask=None):
        x = self.begin(tokens)
        for layer in self.layers:
            x = memory = layer(x, memory, mask, memory_mask)
        return x


class MemoryInsteadOfX(InPieces):
    def forward(self, tokens, memory, mask=None, memory_mask=None):
        x = self.begin(tokens)
        for layer in self.layers:
            memory = layer(x, memory, mask, memory_mask)
        return memory


class MemoryInsteadOfXUnmasked(InPieces):
    def forward(self, tokens, memory, mask=None, memory_mask=None):
        x = self.begin(tokens)
        for layer in self.layers:
            x = memory = layer(x, memory)
        return x


class NoMasks(InPieces):
    def step(self, layer, x, memory, mask, memory_mask):
        return layer(x, memory)


class MemoryMaskForgotten(InPieces):
    def step(self, layer, x, memory, mask, memory_mask):
        return layer(x, memory, mask)


class MaskForgotten(InPieces):
    def step(self, layer, x, memory, mask, memory_mask):
        return layer(x, memory, memory_mask=memory_mask)


class MasksSwapped(InPieces):
    def step(self, layer, x, memory, mask, memory_mask):
        return layer(x, memory, memory_mask, mask)


class OneMaskForBoth(InPieces):
    def step(self, layer, x, memory, mask, memory_mask):
        return layer(x, memory, mask, mask)


class MemoryMaskInItsPlace(InPieces):
    def step(self, layer, x, memory, mask, memory_mask):
        return layer(x, memory, memory_mask)


class MemoryMaskForBoth(InPieces):
    def step(self, layer, x, memory, mask, memory_mask):
        return layer(x, memory, memory_mask, memory_mask)


class AMaskOfItsOwn(InPieces):
    def step(self, layer, x, memory, mask, memory_mask):
        return layer(x, memory, torch.ones(x.shape[1], x.shape[1]).tril().bool(), memory_mask)


class AMaskOfItsOwnIfNoneIsGiven(AMaskOfItsOwn):
    def step(self, layer, x, memory, mask, memory_mask):
        if mask is not None:
            return layer(x, memory, mask, memory_mask)
        return super().step(layer, x, memory, mask, memory_mask)


class AMaskOfItsOwnToo(InPieces):
    def step(self, layer, x, memory, mask, memory_mask):
        causal = torch.ones(x.shape[1], x.shape[1]).tril().bool()
        return layer(x, memory, causal if mask is None else mask & causal, memory_mask)


class XAndMemorySwapped(InPieces):
    def step(self, layer, x, memory, mask, memory_mask):
        return layer(memory, x, mask, memory_mask)


class XAndMemorySwappedWithTheirMasks(InPieces):
    def step(self, layer, x, memory, mask, memory_mask):
        return layer(memory, x, memory_mask, mask)


class ReadsItself(InPieces):
    def step(self, layer, x, memory, mask, memory_mask):
        return layer(x, x, mask, memory_mask)


class ReadsItselfUnderItsMask(InPieces):
    def step(self, layer, x, memory, mask, memory_mask):
        return layer(x, x, mask, mask)


class NoMemory(InPieces):
    def step(self, layer, x, memory, mask, memory_mask):
        return layer(x, mask)


class NoMemoryButBothMasks(InPieces):
    def step(self, layer, x, memory, mask, memory_mask):
        return layer(x, mask=mask, memory_mask=memory_mask)


MISTAKES = [
    Mistake(
        "memory_from_layer_to_layer",
        [MemoryFromLayerToLayer, MemoryInsteadOfX, MemoryInsteadOfXUnmasked],
        says=(
            "The memory is replaced on the way: from the second layer on, the cross-attention reads what the decoder has "
            "made itself. Every layer reads the same memory. Look at what is assigned in the loop."
        ),
        hints=[
            "What does the second layer get as its memory?",
            "Nothing that the decoder does changes what the encoder has read.",
            "Only `x` is assigned: `x = layer(x, memory, mask, memory_mask)`.",
        ],
    ),
    Mistake(
        "no_masks",
        [NoMasks],
        says="Without masks it is right; but neither mask is handed on to the layers. Look at what they are given.",
        hints=[
            "Where do `mask` and `memory_mask` occur in `forward`?",
            "A layer takes four arguments.",
            "`layer(x, memory, mask, memory_mask)`.",
        ],
    ),
    Mistake(
        "memory_mask_forgotten",
        [MemoryMaskForgotten],
        says=(
            "The layers are not given the mask of the memory: they read padding of the source. Look at what they are "
            "given."
        ),
        hints=[
            "Where does `memory_mask` occur in `forward`?",
            "A layer takes four arguments.",
            "`layer(x, memory, mask, memory_mask)`.",
        ],
    ),
    Mistake(
        "mask_forgotten",
        [MaskForgotten],
        says=(
            "The layers are not given the mask of what was written: each position sees those that come later. Look at "
            "what they are given."
        ),
        hints=[
            "Where does `mask` occur in `forward`?",
            "A layer takes four arguments.",
            "`layer(x, memory, mask, memory_mask)`.",
        ],
    ),
    Mistake(
        "masks_swapped",
        [MasksSwapped],
        says=(
            "The two masks change places on their way to the layers. It crashes, unless source and target are equally "
            "long. Look at the order of the arguments."
        ),
        hints=[
            "In which order does the layer take its masks?",
            "First what is about the target, then what is about the source.",
            "`layer(x, memory, mask, memory_mask)`.",
        ],
    ),
    Mistake(
        "one_mask_for_both",
        [OneMaskForBoth],
        says=(
            "The mask of what was written is handed on twice, and also hides positions of the source. Look at the last "
            "argument of the layers."
        ),
        hints=[
            "Which mask is about the source?",
            "A layer takes four arguments, all different.",
            "`layer(x, memory, mask, memory_mask)`.",
        ],
    ),
    Mistake(
        "memory_mask_in_its_place",
        [MemoryMaskInItsPlace, MemoryMaskForBoth],
        says=(
            "The mask of the memory stands where that of what was written belongs, and hides positions of what was "
            "written. Look at the third argument of the layers."
        ),
        hints=[
            "In which order does the layer take its masks?",
            "First what is about the target, then what is about the source.",
            "`layer(x, memory, mask, memory_mask)`.",
        ],
    ),
    Mistake(
        "a_mask_of_its_own",
        [AMaskOfItsOwn, AMaskOfItsOwnIfNoneIsGiven, AMaskOfItsOwnToo],
        says=(
            "The decoder makes a causal mask of its own. Whoever calls it says what may be looked at, and without a mask "
            "everything may. Look at where the mask comes from."
        ),
        hints=[
            "What should happen if `mask` is None?",
            "A mask that comes ready also knows of the padding.",
            "Hand `mask` on as it is.",
        ],
    ),
    Mistake(
        "x_and_memory_swapped",
        [XAndMemorySwapped, XAndMemorySwappedWithTheirMasks],
        says=(
            "What was written and the memory have changed places: the result has as many positions as the source. Look at "
            "the order of the arguments."
        ),
        hints=[
            "Which shape comes out, and which is asked for?",
            "The first argument of a layer is what it changes, the second what it only reads.",
            "`layer(x, memory, mask, memory_mask)`.",
        ],
    ),
    Mistake(
        "reads_itself",
        [ReadsItself, ReadsItselfUnderItsMask],
        says=(
            "The layers read what was written in place of the memory: whatever the source says, the output is the same. "
            "Look at the second argument."
        ),
        hints=[
            "Where does `memory` occur in the loop?",
            "Change the memory. Does the output change?",
            "`layer(x, memory, mask, memory_mask)`.",
        ],
    ),
    Mistake(
        "no_memory",
        [NoMemory, NoMemoryButBothMasks],
        says=(
            "The layers are not given the memory: they are left without one, or take the mask for it. Look at their "
            "arguments."
        ),
        hints=[
            "What are the first two arguments of a layer?",
            "The encoder's output comes right after x.",
            "`layer(x, memory, mask, memory_mask)`.",
        ],
    ),
]
