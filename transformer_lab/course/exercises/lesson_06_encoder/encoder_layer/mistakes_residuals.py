"""What goes wrong in what is added to what in a post-norm layer."""

from transformer_lab.course.exercise import Mistake
from transformer_lab.course.exercises.lesson_06_encoder.shared.layer_mistake_template import InPieces


class NoAttention(InPieces):
    def forward(self, x, mask=None):
        return self.norm_2(x + self.computed(x))


class NoAttentionAndTheFirstNorm(InPieces):
    def forward(self, x, mask=None):
        return self.norm_1(x + self.computed(x))


class SideBySide(InPieces):
    def forward(self, x, mask=None):
        return self.norm_2(x + self.attended(x, mask) + self.computed(x))


class SideBySideWithTheFirstNorm(InPieces):
    def forward(self, x, mask=None):
        return self.norm_1(x + self.attended(x, mask) + self.computed(x))


class SideBySideAndNormedApart(InPieces):
    def forward(self, x, mask=None):
        return self.norm_1(x + self.attended(x, mask)) + self.norm_2(x + self.computed(x))


class NeitherAddedNorNormed(InPieces):
    def forward(self, x, mask=None):
        return self.computed(self.attended(x, mask))


class NetworkNeitherAddedNorNormed(InPieces):
    def forward(self, x, mask=None):
        return self.computed(self.norm_1(x + self.attended(x, mask)))


class AddedTwice(InPieces):
    def forward(self, x, mask=None):
        x = x + self.norm_1(x + self.attended(x, mask))
        return x + self.norm_2(x + self.computed(x))


class AddsTheSumBeforeItsNorm(InPieces):
    def forward(self, x, mask=None):
        x = x + self.attended(x, mask)
        return self.norm_2(x + self.computed(self.norm_1(x)))


MISTAKES = [
    Mistake(
        "side_by_side",
        [SideBySide, SideBySideWithTheFirstNorm, SideBySideAndNormedApart],
        says=(
            "Attention and network work side by side, on the same x. They should come one after the other: the network "
            "thinks about what the attention found. Look at what each is given."
        ),
        hints=[
            "What does the network know of the other positions?",
            "Two steps, and the second one starts from the result of the first.",
            "LayerNorm(x + sublayer(x)), twice, one line each.",
        ],
    ),
    Mistake(
        "neither_added_nor_normed",
        [NeitherAddedNorNormed, NetworkNeitherAddedNorNormed],
        says=(
            "What a sublayer says is handed on as it is: there is neither a sum nor a norm around it. Look at each of the "
            "two steps."
        ),
        hints=[
            "With all weights of attention and network at 0, what comes out? x should still be in it.",
            "Each of the two sublayers has a sum around it, and a norm around the sum.",
            "LayerNorm(x + sublayer(x)), twice.",
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
            "How often does x occur as a summand in each step?",
            "In LayerNorm(x + sublayer(x)), the sum is inside.",
            "Leave out the `x +` in front of each norm.",
        ],
    ),
    Mistake(
        "adds_the_sum_before_its_norm",
        [AddsTheSumBeforeItsNorm],
        says=(
            "The network reads the normed sum, but its result is added to the sum as it was before the norm. Look at what "
            "the second sum is made of."
        ),
        hints=[
            "Each sublayer's result is added to what that sublayer itself was given.",
            "What was the network given?",
            "The second sum adds the network's result to the output of `norm_1`.",
        ],
    ),
]
