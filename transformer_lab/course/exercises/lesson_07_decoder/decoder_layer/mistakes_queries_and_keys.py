"""Mistakes in who asks whom, and when."""

from transformer_lab.course.exercise import Mistake
from transformer_lab.course.exercises.lesson_07_decoder.decoder_layer.mistake_template import InPieces


class CrossAttentionToItself(InPieces):
    def across(self, x, memory, mask, memory_mask):
        return self.cross_attention(x, x, x, memory_mask)


class CausalCrossAttentionToItself(InPieces):
    def across(self, x, memory, mask, memory_mask):
        return self.cross_attention(x, x, x, mask)


class UnmaskedCrossAttentionToItself(InPieces):
    def across(self, x, memory, mask, memory_mask):
        return self.cross_attention(x, x, x)


class TheMemoryAsks(InPieces):
    def across(self, x, memory, mask, memory_mask):
        return self.cross_attention(memory, x, x, memory_mask)


class TheMemoryAsksAndIsAdded(InPieces):
    def add(self, number, x, found):
        return super().add(number, found, x)

    def across(self, x, memory, mask, memory_mask):
        return self.cross_attention(memory, x, x, memory_mask)


class TheMemoryAsksAndIsAddedTo(InPieces):
    def forward(self, x, memory, mask=None, memory_mask=None):
        x = self.add(1, x, self.back(x, memory, mask, memory_mask))
        x = self.add(2, memory, self.cross_attention(memory, x, x, memory_mask))
        return self.add(3, x, self.feed_forward(x))


class ValuesFromTheDecoder(InPieces):
    def across(self, x, memory, mask, memory_mask):
        return self.cross_attention(x, memory, x, memory_mask)


class KeysFromTheDecoder(InPieces):
    def across(self, x, memory, mask, memory_mask):
        return self.cross_attention(x, x, memory, memory_mask)


class ValueKeyQuery(InPieces):
    def across(self, x, memory, mask, memory_mask):
        return self.cross_attention(memory, memory, x, memory_mask)


class TheMemoryOnlyOnce(InPieces):
    def across(self, x, memory, mask, memory_mask):
        return self.cross_attention(x, memory, memory_mask)


class SelfAttentionToTheMemory(InPieces):
    def back(self, x, memory, mask, memory_mask):
        return self.self_attention(x, memory, memory, mask)


class SelfAttentionToTheMemoryUnderItsMask(InPieces):
    def back(self, x, memory, mask, memory_mask):
        return self.self_attention(x, memory, memory, memory_mask)


class TheInputAsksAcross(InPieces):
    def forward(self, x, memory, mask=None, memory_mask=None):
        asks = x
        x = self.add(1, x, self.back(x, memory, mask, memory_mask))
        x = self.add(2, x, self.across(asks, memory, mask, memory_mask))
        return self.add(3, x, self.feed_forward(x))


class OneAttentionForBoth(InPieces):
    def across(self, x, memory, mask, memory_mask):
        return self.self_attention(x, memory, memory, memory_mask)


class AttentionsSwapped(InPieces):
    def back(self, x, memory, mask, memory_mask):
        return self.cross_attention(x, x, x, mask)

    def across(self, x, memory, mask, memory_mask):
        return self.self_attention(x, memory, memory, memory_mask)


class CrossAttentionForBoth(InPieces):
    def back(self, x, memory, mask, memory_mask):
        return self.cross_attention(x, x, x, mask)


class NoSelfAttention(InPieces):
    def forward(self, x, memory, mask=None, memory_mask=None):
        x = self.add(2, x, self.across(x, memory, mask, memory_mask))
        return self.add(3, x, self.feed_forward(x))


class NoSelfAttentionAndTheNormsInTurn(InPieces):
    def forward(self, x, memory, mask=None, memory_mask=None):
        x = self.add(1, x, self.across(x, memory, mask, memory_mask))
        return self.add(2, x, self.feed_forward(x))


class NoCrossAttention(InPieces):
    def forward(self, x, memory, mask=None, memory_mask=None):
        x = self.add(1, x, self.back(x, memory, mask, memory_mask))
        return self.add(3, x, self.feed_forward(x))


class NoCrossAttentionAndTheNormsInTurn(InPieces):
    def forward(self, x, memory, mask=None, memory_mask=None):
        x = self.add(1, x, self.back(x, memory, mask, memory_mask))
        return self.add(2, x, self.feed_forward(x))


class CrossAttentionFirst(InPieces):
    def forward(self, x, memory, mask=None, memory_mask=None):
        x = self.add(1, x, self.across(x, memory, mask, memory_mask))
        x = self.add(2, x, self.back(x, memory, mask, memory_mask))
        return self.add(3, x, self.feed_forward(x))


class CrossAttentionFirstWithItsNorm(InPieces):
    def forward(self, x, memory, mask=None, memory_mask=None):
        x = self.add(2, x, self.across(x, memory, mask, memory_mask))
        x = self.add(1, x, self.back(x, memory, mask, memory_mask))
        return self.add(3, x, self.feed_forward(x))


class FeedForwardBetween(InPieces):
    def forward(self, x, memory, mask=None, memory_mask=None):
        x = self.add(1, x, self.back(x, memory, mask, memory_mask))
        x = self.add(2, x, self.feed_forward(x))
        return self.add(3, x, self.across(x, memory, mask, memory_mask))


class FeedForwardBetweenWithItsNorm(InPieces):
    def forward(self, x, memory, mask=None, memory_mask=None):
        x = self.add(1, x, self.back(x, memory, mask, memory_mask))
        x = self.add(3, x, self.feed_forward(x))
        return self.add(2, x, self.across(x, memory, mask, memory_mask))


MISTAKES = [
    Mistake(
        "cross_attention_to_itself",
        [CrossAttentionToItself, CausalCrossAttentionToItself, UnmaskedCrossAttentionToItself],
        says=(
            "The cross-attention is a second self-attention: nothing is read from the memory, and whatever the source "
            "says, the output is the same. Look at what it is given."
        ),
        hints=[
            "Change the memory. Does the output change?",
            "Whom does the decoder ask in the second sublayer?",
            "Keys and values both come from `memory`.",
        ],
    ),
    Mistake(
        "the_memory_asks",
        [TheMemoryAsks, TheMemoryAsksAndIsAdded, TheMemoryAsksAndIsAddedTo],
        says=(
            "The roles are exchanged: the memory asks, and what was written is looked at. The result has as many positions "
            "as the source: it can be added to x only where the two lengths happen to agree. Look at who is query, key and "
            "value."
        ),
        hints=[
            "How many rows does an attention give: one for each query, or one for each key?",
            "Each position that was written wants to know something about the source. Who asks?",
            "The query is `x`, key and value are `memory`.",
        ],
    ),
    Mistake(
        "values_from_the_decoder",
        [ValuesFromTheDecoder, KeysFromTheDecoder, ValueKeyQuery],
        says=(
            "In the cross-attention, keys and values come from two different sequences. They belong together: what is "
            "compared by its key hands over its own value. Look at the order of the arguments."
        ),
        hints=[
            "How many keys are there, and how many values?",
            "The source is both compared and handed over; what was written asks.",
            "Query, key and value, in this order: `x`, `memory`, `memory`.",
        ],
    ),
    Mistake(
        "the_memory_only_once",
        [TheMemoryOnlyOnce],
        says=(
            "The cross-attention is given the memory only once. It takes a query, a key and a value, so that its mask is "
            "now taken for the values."
        ),
        hints=[
            "Which argument is the third one that the attention takes?",
            "What is compared, and what is handed over, both come from the memory.",
            "Name it twice: `self.cross_attention(x, memory, memory, memory_mask)`.",
        ],
    ),
    Mistake(
        "self_attention_to_the_memory",
        [SelfAttentionToTheMemory, SelfAttentionToTheMemoryUnderItsMask],
        says=(
            "Both attentions look at the memory, and none at what was written: so each position knows only its own token. "
            "Look at what the first one is given."
        ),
        hints=[
            "Who asks whom in a *self*-attention?",
            "The position that should write the last letter has to know which came before.",
            "Query, key and value of the self-attention are all `x`.",
        ],
    ),
    Mistake(
        "the_input_asks_across",
        [TheInputAsksAcross],
        says=(
            "The layer's *input* asks the memory, and not what the self-attention has made of it: the question does not "
            "know what was written before. Look at the query of the cross-attention."
        ),
        hints=[
            "Each sublayer goes on from what the one before gave. Is that so here?",
            "After the first line, which variable holds its result?",
            "The query of the cross-attention is what `norm_1` gave.",
        ],
    ),
    Mistake(
        "one_attention_for_both",
        [OneAttentionForBoth, CrossAttentionForBoth],
        says=(
            "One attention does both jobs, and the other is not used. Looking back and looking across each have parameters "
            "of their own."
        ),
        hints=[
            "After `(output * torch.randn_like(output)).sum().backward()`, whose parameters have no gradient?",
            "There are two attentions in `__init__`.",
            "The first sublayer is `self.self_attention`, the second `self.cross_attention`.",
        ],
    ),
    Mistake(
        "attentions_swapped",
        [AttentionsSwapped],
        says=(
            "The two attentions have changed places: `cross_attention` looks back, and `self_attention` across. Newly made "
            "they do the same, but parameters loaded from elsewhere would stand in the wrong place."
        ),
        hints=[
            "Which of the two is called first?",
            "Names matter as soon as parameters are loaded by name.",
            "First `self.self_attention`, then `self.cross_attention`.",
        ],
    ),
    Mistake(
        "no_cross_attention",
        [NoCrossAttention, NoCrossAttentionAndTheNormsInTurn],
        says=(
            "The memory has no effect: the cross-attention is missing, or what it found is not used. That is the layer of "
            "a decoder-only model. Look at the second sublayer, and at what the third reads."
        ),
        hints=[
            "Where does `memory` occur in the code?",
            "Three sublayers are made in `__init__`. Which of them is not used?",
            "Between self-attention and feed-forward: `self.cross_attention`.",
        ],
    ),
    Mistake(
        "no_self_attention",
        [NoSelfAttention, NoSelfAttentionAndTheNormsInTurn],
        says=(
            "What was written before has no effect: the self-attention is missing, or what it found is not used. Look at "
            "the first sublayer, and at what the second reads."
        ),
        hints=[
            "Change the first token. Does the output at the second position change?",
            "Is the result of the first line used in the second, both as the query and in the sum?",
            "Call the result of each line `x`, and begin with `self.self_attention`.",
        ],
    ),
    Mistake(
        "cross_attention_first",
        [CrossAttentionFirst, CrossAttentionFirstWithItsNorm],
        says=(
            "The cross-attention comes before the self-attention. The position should first find out what has been "
            "written, and then ask the source. Look at the order."
        ),
        hints=[
            "Which question could a position ask that knows only its own token?",
            "In which order does `__init__` name them?",
            "Self-attention, cross-attention, feed-forward.",
        ],
    ),
    Mistake(
        "feed_forward_between",
        [FeedForwardBetween, FeedForwardBetweenWithItsNorm],
        says=(
            "The feed-forward network stands between the two attentions. It should come last, and work on what both have "
            "found. Look at the order."
        ),
        hints=[
            "What does the network know when it comes before the cross-attention?",
            "In which order does `__init__` name them?",
            "Self-attention, cross-attention, feed-forward.",
        ],
    ),
]
