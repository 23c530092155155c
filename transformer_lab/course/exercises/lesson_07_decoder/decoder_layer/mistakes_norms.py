"""Mistakes in what is normed, when, and by which norm."""

from transformer_lab.course.exercise import Mistake
from transformer_lab.course.exercises.lesson_07_decoder.decoder_layer.mistake_template import InPieces


class PreNorm(InPieces):
    def forward(self, x, memory, mask=None, memory_mask=None):
        y = self.norm_1(x)
        x = x + self.self_attention(y, y, y, mask)
        x = x + self.cross_attention(self.norm_2(x), memory, memory, memory_mask)
        return x + self.feed_forward(self.norm_3(x))


class PreNormOfTheMemoryToo(InPieces):
    def forward(self, x, memory, mask=None, memory_mask=None):
        y = self.norm_1(x)
        x = x + self.self_attention(y, y, y, mask)
        m = self.norm_2(memory)
        x = x + self.cross_attention(self.norm_2(x), m, m, memory_mask)
        return x + self.feed_forward(self.norm_3(x))


class MemoryNormed(InPieces):
    def across(self, x, memory, mask, memory_mask):
        return super().across(x, self.norm_2(memory), mask, memory_mask)


class MemoryNormedByTheFirst(InPieces):
    def across(self, x, memory, mask, memory_mask):
        return super().across(x, self.norm_1(memory), mask, memory_mask)


class NormedFirstAndAddedToIt(InPieces):
    def forward(self, x, memory, mask=None, memory_mask=None):
        x = self.norm_1(x)
        x = x + self.self_attention(x, x, x, mask)
        x = self.norm_2(x)
        x = x + self.cross_attention(x, memory, memory, memory_mask)
        x = self.norm_3(x)
        return x + self.feed_forward(x)


class NormedBeforeAdding(InPieces):
    def add(self, number, x, found):
        return x + getattr(self, f"norm_{number}")(found)


class NothingNormed(InPieces):
    def add(self, number, x, found):
        return x + found


class SelfAttentionNotNormed(InPieces):
    def add(self, number, x, found):
        return x + found if number == 1 else super().add(number, x, found)


class CrossAttentionNotNormed(InPieces):
    def add(self, number, x, found):
        return x + found if number == 2 else super().add(number, x, found)


class FeedForwardNotNormed(InPieces):
    def add(self, number, x, found):
        return x + found if number == 3 else super().add(number, x, found)


class OnlyTheEndNormed(InPieces):
    def add(self, number, x, found):
        return x + found if number < 3 else super().add(number, x, found)


class OneNormForAll(InPieces):
    def add(self, number, x, found):
        return self.norm_1(x + found)


class OneNormForBothAttentions(InPieces):
    def add(self, number, x, found):
        return super().add(3 if number == 3 else 1, x, found)


class SecondNormForTheLastToo(InPieces):
    def add(self, number, x, found):
        return super().add(min(number, 2), x, found)


class FirstNormForTheLastToo(InPieces):
    def add(self, number, x, found):
        return super().add(2 if number == 2 else 1, x, found)


class NormsOfTheAttentionsSwapped(InPieces):
    def add(self, number, x, found):
        return super().add({1: 2, 2: 1, 3: 3}[number], x, found)


class NormsOfTheLastTwoSwapped(InPieces):
    def add(self, number, x, found):
        return super().add({1: 1, 2: 3, 3: 2}[number], x, found)


MISTAKES = [
    Mistake(
        "pre_norm",
        [PreNorm, PreNormOfTheMemoryToo],
        says=(
            "This is pre-norm: each sublayer's input is normed, and the sum is left alone. It trains well, but asked for "
            "is the paper's post-norm. Look at what goes into the norms."
        ),
        hints=[
            "What is normed: what a sublayer reads, or the sum after it?",
            "In post-norm, what leaves the layer has just been normed.",
            "x becomes norm(x + sublayer(x)), three times.",
        ],
    ),
    Mistake(
        "memory_normed",
        [MemoryNormed, MemoryNormedByTheFirst],
        says=(
            "The memory is normed on its way into the cross-attention, by a norm of this layer. It comes ready from the "
            "encoder, and is read as it is. Look at what the cross-attention is given."
        ),
        hints=[
            "How many norms are used, and how often each?",
            "Each norm works on the sum after one sublayer.",
            "Key and value are `memory` itself.",
        ],
    ),
    Mistake(
        "normed_first_and_added_to_it",
        [NormedFirstAndAddedToIt],
        says=(
            "The norm comes first, and its result is what is added to: neither post-norm nor pre-norm. What came into "
            "the layer is gone after the first line. Look at the order of norm and sum."
        ),
        hints=[
            "With sublayers that give zeros, what comes out?",
            "The norm works on the sum.",
            "x becomes norm(x + sublayer(x)), three times.",
        ],
    ),
    Mistake(
        "normed_before_adding",
        [NormedBeforeAdding],
        says="What a sublayer found is normed, and then added. The *sum* should be normed. Look at the brackets.",
        hints=[
            "In norm(x + f(x)), what is inside the norm?",
            "What leaves the layer should have just been normed.",
            "The x belongs into the brackets of the norm.",
        ],
    ),
    Mistake(
        "nothing_normed",
        [NothingNormed, SelfAttentionNotNormed, CrossAttentionNotNormed, FeedForwardNotNormed, OnlyTheEndNormed],
        says="A norm is missing. There is one after each of the three sums.",
        hints=[
            "Which of `norm_1`, `norm_2` and `norm_3` occur in the code?",
            "What leaves each of the three steps should have just been normed.",
            "x becomes norm(x + sublayer(x)), three times.",
        ],
    ),
    Mistake(
        "one_norm_for_all",
        [OneNormForAll, OneNormForBothAttentions, SecondNormForTheLastToo, FirstNormForTheLastToo],
        says="A norm is used more than once, and another one not at all. Each has parameters of its own.",
        hints=[
            "Which of `norm_1`, `norm_2` and `norm_3` occur in the code, and how often?",
            "Was a line copied?",
            "`norm_1` after the self-attention, `norm_2` after the cross-attention, `norm_3` at the end.",
        ],
    ),
    Mistake(
        "norms_of_the_attentions_swapped",
        [NormsOfTheAttentionsSwapped, NormsOfTheLastTwoSwapped],
        says=(
            "The norms are not in the order of their numbers. Newly made they do the same, but parameters loaded from "
            "elsewhere would stand in the wrong place."
        ),
        hints=[
            "Which norm comes after which sublayer?",
            "Names matter as soon as parameters are loaded by name.",
            "`norm_1` after the self-attention, `norm_2` after the cross-attention, `norm_3` at the end.",
        ],
    ),
]
