"""What goes wrong in a post-norm layer."""

from torch.nn import functional as F

from transformer_lab.course.exercise import Mistake
from transformer_lab.course.exercises.lesson_06_encoder.encoder_layer import mistakes_residuals
from transformer_lab.course.exercises.lesson_06_encoder.shared import layer_mistakes
from transformer_lab.course.exercises.lesson_06_encoder.shared.layer_mistake_template import InPieces


class PreNormInstead(InPieces):
    def forward(self, x, mask=None):
        x = x + self.attended(self.norm_1(x), mask)
        return x + self.computed(self.norm_2(x))


class NormsTheBranch(InPieces):
    def forward(self, x, mask=None):
        x = x + self.norm_1(self.attended(x, mask))
        return x + self.norm_2(self.computed(x))


class NormsTheFirstBranch(InPieces):
    def forward(self, x, mask=None):
        x = x + self.norm_1(self.attended(x, mask))
        return self.norm_2(x + self.computed(x))


class NormsTheSecondBranch(InPieces):
    def forward(self, x, mask=None):
        x = self.norm_1(x + self.attended(x, mask))
        return x + self.norm_2(self.computed(x))


class NormedBeforeAndAdded(InPieces):
    def forward(self, x, mask=None):
        x = self.norm_1(x)
        x = x + self.attended(x, mask)
        x = self.norm_2(x)
        return x + self.computed(x)


class NoResidual(InPieces):
    def forward(self, x, mask=None):
        return self.norm_2(self.computed(self.norm_1(self.attended(x, mask))))


class NoResidualAroundAttention(InPieces):
    def forward(self, x, mask=None):
        x = self.norm_1(self.attended(x, mask))
        return self.norm_2(x + self.computed(x))


class NoResidualAroundTheNetwork(InPieces):
    def forward(self, x, mask=None):
        x = self.norm_1(x + self.attended(x, mask))
        return self.norm_2(self.computed(x))


class NoNorms(InPieces):
    def forward(self, x, mask=None):
        x = x + self.attended(x, mask)
        return x + self.computed(x)


class FirstNormForgotten(InPieces):
    def forward(self, x, mask=None):
        x = x + self.attended(x, mask)
        return self.norm_2(x + self.computed(x))


class SecondNormForgotten(InPieces):
    def forward(self, x, mask=None):
        x = self.norm_1(x + self.attended(x, mask))
        return x + self.computed(x)


class AddsTheLayersInput(InPieces):
    def forward(self, x, mask=None):
        attended = self.norm_1(x + self.attended(x, mask))
        return self.norm_2(x + self.computed(attended))


class NetworkReadsTheLayersInput(InPieces):
    def forward(self, x, mask=None):
        attended = self.norm_1(x + self.attended(x, mask))
        return self.norm_2(attended + self.computed(x))


class AddsTheAttention(InPieces):
    def forward(self, x, mask=None):
        attended = self.attended(x, mask)
        normed = self.norm_1(x + attended)
        return self.norm_2(attended + self.computed(normed))


class OneNormForBoth(InPieces):
    def forward(self, x, mask=None):
        x = self.norm_1(x + self.attended(x, mask))
        return self.norm_1(x + self.computed(x))


class SecondNormForBoth(InPieces):
    def forward(self, x, mask=None):
        x = self.norm_2(x + self.attended(x, mask))
        return self.norm_2(x + self.computed(x))


class NormsSwapped(InPieces):
    def forward(self, x, mask=None):
        x = self.norm_2(x + self.attended(x, mask))
        return self.norm_1(x + self.computed(x))


class NormsWithoutTheirWeights(InPieces):
    def forward(self, x, mask=None):
        x = F.layer_norm(x + self.attended(x, mask), x.shape[-1:])
        return F.layer_norm(x + self.computed(x), x.shape[-1:])


class MaskIgnored(InPieces):
    def forward(self, x, mask=None):
        x = self.norm_1(x + self.attended(x, None))
        return self.norm_2(x + self.computed(x))


class MaskTurnedRound(InPieces):
    def forward(self, x, mask=None):
        turned = None if mask is None else ~mask
        x = self.norm_1(x + self.attended(x, turned))
        return self.norm_2(x + self.computed(x))


class XOnlyOnce(InPieces):
    def forward(self, x, mask=None):
        x = self.norm_1(x + self.self_attention(x, mask=mask))
        return self.norm_2(x + self.computed(x))


class XOnlyTwice(InPieces):
    def forward(self, x, mask=None):
        x = self.norm_1(x + self.self_attention(x, x, mask=mask))
        return self.norm_2(x + self.computed(x))


class XTwiceAndTheMask(InPieces):
    def forward(self, x, mask=None):
        x = self.norm_1(x + self.self_attention(x, x, mask))
        return self.norm_2(x + self.computed(x))


class NetworkFirst(InPieces):
    def forward(self, x, mask=None):
        x = self.norm_1(x + self.computed(x))
        return self.norm_2(x + self.attended(x, mask))


class OnlyAttention(InPieces):
    def forward(self, x, mask=None):
        return self.norm_1(x + self.attended(x, mask))


class AddsInPlace(InPieces):
    def forward(self, x, mask=None):
        x += self.attended(x, mask)
        x = self.norm_1(x)
        x += self.computed(x)
        return self.norm_2(x)


class DropsInTraining(InPieces):
    def forward(self, x, mask=None):
        x = self.norm_1(x + F.dropout(self.attended(x, mask), 0.1, self.training))
        return self.norm_2(x + F.dropout(self.computed(x), 0.1, self.training))


MISTAKES = [
    Mistake(
        "pre_norm_instead",
        [PreNormInstead],
        says=(
            "This is the pre-norm layer: what the sublayers read is normed, and the sums are not. It is a good layer, "
            "and the next exercise. Here the norm comes last: look at what each norm is given."
        ),
        hints=[
            "With all weights of attention and network at 0, this layer hands on x. What should a post-norm layer do?",
            "It should norm x + sublayer(x), the whole sum.",
            "`self.norm_1(x + …)`, where the dots are what attention says of x itself.",
        ],
    ),
    Mistake(
        "norms_the_branch",
        [NormsTheBranch, NormsTheFirstBranch, NormsTheSecondBranch],
        says=(
            "What a sublayer says is normed before it is added, and the sum is not normed at all. Look at where the "
            "brackets of the norm close."
        ),
        hints=[
            "What comes out of a new post-norm layer has variance 1 at every position. Has it here?",
            "The formula is LayerNorm(x + sublayer(x)).",
            "Put `x +` inside the norm.",
        ],
    ),
    Mistake(
        "normed_before_and_added",
        [NormedBeforeAndAdded],
        says=(
            "x itself is replaced by the normed x before each sublayer, and the last sum is not normed at all. This is "
            "neither post-norm nor pre-norm. Look at what each norm is given."
        ),
        hints=[
            "The formula norms a sum. Which sum?",
            "First add what the sublayer says to x, then norm.",
            "LayerNorm(x + sublayer(x)), twice.",
        ],
    ),
    Mistake(
        "no_residual",
        [NoResidual, NoResidualAroundAttention, NoResidualAroundTheNetwork],
        says=(
            "A residual is missing: what a sublayer says takes the place of its input, instead of being added to it. Look "
            "for a norm that is given no sum."
        ),
        hints=[
            "With all weights of attention and network at 0, what comes out? x should still be in it.",
            "LayerNorm(x + sublayer(x)), twice: there are two additions.",
            "`x +` belongs in front of what each of the two sublayers says.",
        ],
    ),
    Mistake(
        "no_norms",
        [NoNorms, FirstNormForgotten, SecondNormForgotten],
        says="A norm is missing, so the numbers grow from layer to layer. Each of the two sums should be normed.",
        hints=[
            "How many norms does `__init__` make, and how many are used?",
            "`norm_1` belongs to the attention, `norm_2` to the network.",
            "Both sums go through a norm, before anything else happens to them.",
        ],
    ),
    Mistake(
        "adds_the_layers_input",
        [AddsTheLayersInput],
        says=(
            "The network's result is added to what came into the whole layer. With that, all that attention found reaches "
            "the output through the network alone. Look at what the second sum is made of."
        ),
        hints=[
            "With the network's weights at 0, what is left of the attention?",
            "Each sublayer's result is added to what that sublayer itself was given.",
            "The second sum adds the network's result to the output of `norm_1`.",
        ],
    ),
    Mistake(
        "network_reads_the_layers_input",
        [NetworkReadsTheLayersInput],
        says="The network reads what came into the layer, not what attention made of it. Look at what it is given.",
        hints=[
            "The second step is LayerNorm(x + network(x)). Which x is that?",
            "In the formula, x has been replaced by the result of the first step.",
            "Give the network the output of `norm_1`.",
        ],
    ),
    Mistake(
        "adds_the_attention",
        [AddsTheAttention],
        says=(
            "The network's result is added to what attention said, without x and without the norm. Look at what the second "
            "sum is made of."
        ),
        hints=[
            "Each sublayer's result is added to what that sublayer itself was given.",
            "What was the network given?",
            "The second sum adds the network's result to the output of `norm_1`.",
        ],
    ),
    *mistakes_residuals.MISTAKES,
    *layer_mistakes.shared(
        norms=[OneNormForBoth, SecondNormForBoth, NormsSwapped],
        weights=NormsWithoutTheirWeights,
        mask=MaskIgnored,
        mask_turned=MaskTurnedRound,
        once=[XOnlyOnce, XOnlyTwice, XTwiceAndTheMask],
        order=NetworkFirst,
        half=OnlyAttention,
        lost=[mistakes_residuals.NoAttention, mistakes_residuals.NoAttentionAndTheFirstNorm],
        in_place=AddsInPlace,
        dropout=DropsInTraining,
    ),
]
