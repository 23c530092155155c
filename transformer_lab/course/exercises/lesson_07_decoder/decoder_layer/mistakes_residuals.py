"""Mistakes in what is added to what, and in what is returned."""

from torch.nn import functional as F

from transformer_lab.course.exercise import Mistake
from transformer_lab.course.exercises.lesson_07_decoder.decoder_layer.mistake_template import InPieces


class NothingAdded(InPieces):
    def add(self, number, x, found):
        return getattr(self, f"norm_{number}")(found)


class NothingAddedToSelfAttention(InPieces):
    def add(self, number, x, found):
        return self.norm_1(found) if number == 1 else super().add(number, x, found)


class NothingAddedToCrossAttention(InPieces):
    def add(self, number, x, found):
        return self.norm_2(found) if number == 2 else super().add(number, x, found)


class NothingAddedToFeedForward(InPieces):
    def add(self, number, x, found):
        return self.norm_3(found) if number == 3 else super().add(number, x, found)


class NothingAddedToTheAttentions(InPieces):
    def add(self, number, x, found):
        return super().add(number, x, found) if number == 3 else getattr(self, f"norm_{number}")(found)


class NeitherAddedNorNormed(InPieces):
    def add(self, number, x, found):
        return found


class FeedForwardNeitherAddedNorNormed(InPieces):
    def add(self, number, x, found):
        return found if number == 3 else super().add(number, x, found)


class AddedTwice(InPieces):
    def add(self, number, x, found):
        return x + super().add(number, x, found)


class FeedForwardAddedToTheInput(InPieces):
    def forward(self, x, memory, mask=None, memory_mask=None):
        y = self.add(1, x, self.back(x, memory, mask, memory_mask))
        y = self.add(2, y, self.across(y, memory, mask, memory_mask))
        return self.add(3, x, self.feed_forward(y))


class CrossAttentionAddedToTheInput(InPieces):
    def forward(self, x, memory, mask=None, memory_mask=None):
        y = self.add(1, x, self.back(x, memory, mask, memory_mask))
        x = self.add(2, x, self.across(y, memory, mask, memory_mask))
        return self.add(3, x, self.feed_forward(x))


class EverythingAddedToTheInput(InPieces):
    def forward(self, x, memory, mask=None, memory_mask=None):
        y = self.add(1, x, self.back(x, memory, mask, memory_mask))
        y = self.add(2, x, self.across(y, memory, mask, memory_mask))
        return self.add(3, x, self.feed_forward(y))


class FeedForwardAddedToSelfAttention(InPieces):
    def forward(self, x, memory, mask=None, memory_mask=None):
        x = self.add(1, x, self.back(x, memory, mask, memory_mask))
        y = self.add(2, x, self.across(x, memory, mask, memory_mask))
        return self.add(3, x, self.feed_forward(y))


class FeedForwardReadsSelfAttention(InPieces):
    def forward(self, x, memory, mask=None, memory_mask=None):
        x = self.add(1, x, self.back(x, memory, mask, memory_mask))
        y = self.add(2, x, self.across(x, memory, mask, memory_mask))
        return self.add(3, y, self.feed_forward(x))


class FeedForwardReadsTheInput(InPieces):
    def forward(self, x, memory, mask=None, memory_mask=None):
        y = self.add(1, x, self.back(x, memory, mask, memory_mask))
        y = self.add(2, y, self.across(y, memory, mask, memory_mask))
        return self.add(3, y, self.feed_forward(x))


class AddedToTheMemory(InPieces):
    def forward(self, x, memory, mask=None, memory_mask=None):
        x = self.add(1, x, self.back(x, memory, mask, memory_mask))
        x = self.add(2, memory, self.across(x, memory, mask, memory_mask))
        return self.add(3, x, self.feed_forward(x))


class AddedToTheMemoryBehind(InPieces):
    def forward(self, x, memory, mask=None, memory_mask=None):
        x = self.add(1, x, self.back(x, memory, mask, memory_mask))
        x = self.add(2, self.across(x, memory, mask, memory_mask), memory)
        return self.add(3, x, self.feed_forward(x))


class AllAtOnce(InPieces):
    def forward(self, x, memory, mask=None, memory_mask=None):
        y, z = self.back(x, memory, mask, memory_mask), self.across(x, memory, mask, memory_mask)
        return self.norm_3(x + y + z + self.feed_forward(x))


class BothAttentionsAtOnce(InPieces):
    def forward(self, x, memory, mask=None, memory_mask=None):
        y, z = self.back(x, memory, mask, memory_mask), self.across(x, memory, mask, memory_mask)
        x = self.norm_2(x + y + z)
        return self.add(3, x, self.feed_forward(x))


class BothAttentionsAtOnceWithTheFirstNorm(InPieces):
    def forward(self, x, memory, mask=None, memory_mask=None):
        y, z = self.back(x, memory, mask, memory_mask), self.across(x, memory, mask, memory_mask)
        x = self.norm_1(x + y + z)
        return self.add(3, x, self.feed_forward(x))


class BothAttentionsAtOnceWithTheNormsInTurn(InPieces):
    def forward(self, x, memory, mask=None, memory_mask=None):
        y, z = self.back(x, memory, mask, memory_mask), self.across(x, memory, mask, memory_mask)
        x = self.norm_1(x + y + z)
        return self.add(2, x, self.feed_forward(x))


class BothAttentionsNormedAndThenAdded(InPieces):
    def forward(self, x, memory, mask=None, memory_mask=None):
        y = self.add(1, x, self.back(x, memory, mask, memory_mask))
        x = y + self.add(2, x, self.across(x, memory, mask, memory_mask))
        return self.add(3, x, self.feed_forward(x))


class NoFeedForward(InPieces):
    def forward(self, x, memory, mask=None, memory_mask=None):
        x = self.add(1, x, self.back(x, memory, mask, memory_mask))
        return self.add(2, x, self.across(x, memory, mask, memory_mask))


class WrittenIntoTheInput(InPieces):
    def forward(self, x, memory, mask=None, memory_mask=None):
        x += self.back(x, memory, mask, memory_mask)
        x = self.norm_1(x)
        x = self.add(2, x, self.across(x, memory, mask, memory_mask))
        return self.add(3, x, self.feed_forward(x))


class DropoutInside(InPieces):
    def add(self, number, x, found):
        return super().add(number, x, F.dropout(found, 0.1, self.training))


class MemoryReturnedToo(InPieces):
    def forward(self, x, memory, mask=None, memory_mask=None):
        return super().forward(x, memory, mask, memory_mask), memory


MISTAKES = [
    Mistake(
        "nothing_added",
        [
            NothingAdded,
            NothingAddedToSelfAttention,
            NothingAddedToCrossAttention,
            NothingAddedToFeedForward,
            NothingAddedToTheAttentions,
        ],
        says=(
            "A residual connection is missing: what a sublayer found replaces what was there, instead of being added to "
            "it. Look at each of the three lines."
        ),
        hints=[
            "What is left of x if a sublayer gives nothing but zeros?",
            "Each of the three sublayers has a sum around it.",
            "x becomes norm(x + sublayer(x)), three times.",
        ],
    ),
    Mistake(
        "neither_added_nor_normed",
        [NeitherAddedNorNormed, FeedForwardNeitherAddedNorNormed],
        says=(
            "A sublayer's result is handed on as it is: there is neither a sum nor a norm around it. Look at each of the "
            "three lines."
        ),
        hints=[
            "What is left of x if a sublayer gives nothing but zeros?",
            "Each of the three sublayers has a sum around it, and a norm around the sum.",
            "x becomes norm(x + sublayer(x)), three times.",
        ],
    ),
    Mistake(
        "added_twice",
        [AddedTwice],
        says=(
            "x is added twice: inside the norm, and once more to what the norm gives. What leaves the layer has then not "
            "just been normed. Look at what stands in front of each norm."
        ),
        hints=[
            "How often does x occur as a summand in each line?",
            "In norm(x + f(x)), the sum is inside.",
            "x becomes norm(x + sublayer(x)), with nothing in front of the norm.",
        ],
    ),
    Mistake(
        "feed_forward_added_to_the_input",
        [
            FeedForwardAddedToTheInput,
            CrossAttentionAddedToTheInput,
            EverythingAddedToTheInput,
            FeedForwardAddedToSelfAttention,
        ],
        says=(
            "A residual comes from the wrong place. In norm(a + sublayer(b)), a and b should be the same: an older a lacks "
            "what an earlier sublayer has found. Look at each sum."
        ),
        hints=[
            "With a network that gives only zeros, what is left of the attentions?",
            "In x + f(x), the two x are the same.",
            "Call the result of each line `x` again, and no older one can be taken.",
        ],
    ),
    Mistake(
        "feed_forward_reads_self_attention",
        [FeedForwardReadsSelfAttention, FeedForwardReadsTheInput],
        says=(
            "The sums are right, but the network is given something from further up: it computes with nothing of what the "
            "cross-attention found. Look at what it reads."
        ),
        hints=[
            "With another memory, does the network compute anything else?",
            "In x + f(x), the two x are the same.",
            "Give the network what is added to it: the result of the line before.",
        ],
    ),
    Mistake(
        "added_to_the_memory",
        [AddedToTheMemory, AddedToTheMemoryBehind],
        says=(
            "What the cross-attention found is added to the memory. It belongs to the position that asked: the sum crashes "
            "unless source and target are equally long, and then means nothing."
        ),
        hints=[
            "How many rows has the output of the cross-attention, and how many the memory?",
            "In x + f(x), the two x are the same: what asks.",
            "Add it to `x`, the query.",
        ],
    ),
    Mistake(
        "all_at_once",
        [
            AllAtOnce,
            BothAttentionsAtOnce,
            BothAttentionsAtOnceWithTheFirstNorm,
            BothAttentionsAtOnceWithTheNormsInTurn,
            BothAttentionsNormedAndThenAdded,
        ],
        says=(
            "Sublayers work side by side, on the same input. They should come one after the other: each goes on "
            "from what the one before gave."
        ),
        hints=[
            "What does the cross-attention know about what was written before?",
            "Three lines, and each begins with the x that the line before has made.",
            "x becomes norm(x + sublayer(x)), three times.",
        ],
    ),
    Mistake(
        "no_feed_forward",
        [NoFeedForward],
        says="The feed-forward network is missing at the end.",
        hints=[
            "Which of the modules of `__init__` are used?",
            "Back, across, and then each position by itself.",
            "`self.feed_forward(x)`, with a sum and `norm_3` around it.",
        ],
    ),
    Mistake(
        "written_into_the_input",
        [WrittenIntoTheInput],
        says="What comes out is right, but the caller's `x` is changed: `+=` writes into the tensor that was handed over.",
        hints=[
            "After the call, is the argument what it was?",
            "`x = x + y` makes a new tensor; `x += y` does not.",
            "Write the sum out.",
        ],
    ),
    Mistake(
        "dropout_inside",
        [DropoutInside],
        says="While it trains, something is dropped at random. There is no dropout in this exercise.",
        hints=[
            "Where does chance come in?",
            "In training mode, two calls give two results.",
            "Leave the dropout out.",
        ],
    ),
    Mistake(
        "memory_returned_too",
        [MemoryReturnedToo],
        says="The output is right, but the memory is returned as well. Only the output is asked for.",
        hints=[
            "How many things does the annotation say are returned?",
            "Nobody has changed the memory, so whoever called has it.",
            "Return the output alone.",
        ],
    ),
]
