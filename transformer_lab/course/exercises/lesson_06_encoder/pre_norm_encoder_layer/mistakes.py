"""What goes wrong in a pre-norm layer."""

from transformer_lab.course.exercise import Mistake
from transformer_lab.course.exercises.lesson_06_encoder.pre_norm_encoder_layer.mistakes_norm_placement import (
    AddsInPlace,
    AddsTheLayersInput,
    AttentionNotNormed,
    DropsInTraining,
    FirstResidualFromTheNormed,
    MaskIgnored,
    MaskTurnedRound,
    NetworkFirst,
    NetworkNotNormed,
    NetworkReadsTheLayersInput,
    NoAttention,
    NoAttentionAndTheFirstNorm,
    NoNorms,
    NoResidual,
    NoResidualAroundAttention,
    NoResidualAroundTheNetwork,
    NormedOnlyOnce,
    NormsSwapped,
    NormsTheBranch,
    NormsTheFirstSum,
    NormsTheNormed,
    NormsTheOutput,
    NormsTheOutputToo,
    NormsTheOutputWithTheSecondNorm,
    NormsTheSumsToo,
    NormsWithoutTheirWeights,
    OneNormForBoth,
    OnlyAttention,
    OnlyQueriesNormed,
    PostNormInstead,
    QueriesNotNormed,
    ResidualFromTheNormed,
    SecondNormForBoth,
    SecondResidualFromTheNormed,
    ValuesNotNormed,
    XOnlyOnce,
    XOnlyTwice,
    XTwiceAndTheMask,
)
from transformer_lab.course.exercises.lesson_06_encoder.shared import layer_mistakes

MISTAKES = [
    Mistake(
        "residual_from_the_normed",
        [ResidualFromTheNormed, FirstResidualFromTheNormed, SecondResidualFromTheNormed],
        says=(
            "The normed x takes the place of x, and what a sublayer says is added to *that*. So x itself gets lost on the "
            "way: no path leads around the norms. Look at what stands on the left of each sum."
        ),
        hints=[
            "With all weights of attention and network at 0, the layer should hand x on as it is. What comes out?",
            "Two different things are needed: x, and the normed x. Do both still have a name when the sum is made?",
            "Keep x, and give the normed one a name of its own: `normed = self.norm_1(x)`.",
        ],
    ),
    Mistake(
        "post_norm_instead",
        [PostNormInstead],
        says=(
            "This is the post-norm layer of the exercise before: it norms the sums. Here the sums stay as they are, and "
            "what is normed is the input of each sublayer."
        ),
        hints=[
            "With all weights of attention and network at 0, the layer should hand x on as it is. What comes out?",
            "The formula is x + sublayer(LayerNorm(x)).",
            "Norm what goes into the sublayer, then add what comes out to x.",
        ],
    ),
    Mistake(
        "norms_the_branch",
        [NormsTheBranch],
        says=(
            "What the sublayers say is normed, not what they read. Look at whether the norm stands before or behind the "
            "sublayer."
        ),
        hints=[
            "Double x. The sublayers should say nearly the same as before, as they read normed vectors.",
            "The formula is x + sublayer(LayerNorm(x)): from the inside outwards, what comes first?",
            "First norm, then attend, then add.",
        ],
    ),
    Mistake(
        "norms_the_sums_too",
        [NormsTheSumsToo, NormsTheOutput, NormsTheOutputToo, NormsTheOutputWithTheSecondNorm, NormsTheFirstSum],
        says=(
            "A sum is normed, too. Then x does not come through untouched, which is what pre-norm is about. (Where a stack "
            "ends there is one more norm, but that is the stack's.) Look for a norm around a sum."
        ),
        hints=[
            "With all weights of attention and network at 0, the layer should hand x on as it is. What comes out?",
            "How many norms are there in x + sublayer(LayerNorm(x))?",
            "A norm stands directly in front of each sublayer, and nowhere else.",
        ],
    ),
    Mistake(
        "only_queries_normed",
        [OnlyQueriesNormed, ValuesNotNormed, QueriesNotNormed],
        says=(
            "Only some of queries, keys and values are made from the normed vectors. It is self-attention: all three come "
            "from the same."
        ),
        hints=[
            "Which three things is the attention given?",
            "In the formula, LayerNorm(x) is all that the sublayer reads.",
            "Norm once, and hand over the result three times.",
        ],
    ),
    Mistake(
        "no_norms",
        [NoNorms, AttentionNotNormed, NetworkNotNormed],
        says="A sublayer reads x as it is, without a norm in front.",
        hints=[
            "How many norms does `__init__` make, and how many are used?",
            "In a deep stack x grows; what the sublayers read should not.",
            "`self.norm_1(x)` goes into the attention, `self.norm_2(x)` into the network.",
        ],
    ),
    Mistake(
        "no_residual",
        [NoResidual, NoResidualAroundAttention, NoResidualAroundTheNetwork],
        says="A residual is missing: what a sublayer says takes the place of its input, instead of being added to it.",
        hints=[
            "With all weights of attention and network at 0, the layer should hand x on as it is. What comes out?",
            "x + sublayer(LayerNorm(x)), twice: there are two additions.",
            "`x +` belongs in front of what each of the two sublayers says.",
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
            "The first sum is the x of the second step.",
            "Add the network's result to the first sum.",
        ],
    ),
    Mistake(
        "network_reads_the_layers_input",
        [NetworkReadsTheLayersInput],
        says=(
            "The network reads what came into the layer, not the first sum. (Layers in which both sublayers read the same "
            "exist, and are called parallel.) Look at what the second norm is given."
        ),
        hints=[
            "In the second step, x has been replaced by the first sum.",
            "The network should think about what attention found.",
            "Norm the first sum, and give it to the network.",
        ],
    ),
    Mistake(
        "normed_only_once",
        [NormedOnlyOnce],
        says=(
            "The network reads the same normed vectors as the attention did, and nothing of what the attention found. Look "
            "at what is given to the network."
        ),
        hints=[
            "How many norms does `__init__` make, and how many are used?",
            "The second step is x + network(LayerNorm(x)), where x is the first sum.",
            "Norm the first sum, with `norm_2`, and give that to the network.",
        ],
    ),
    Mistake(
        "norms_the_normed",
        [NormsTheNormed],
        says=(
            "The second norm is given what the first one made, so the network hears nothing of what the attention found. "
            "Look at what the second norm is given."
        ),
        hints=[
            "When the second norm reads, what has happened to x?",
            "The second step is x + network(LayerNorm(x)), where x is the first sum.",
            "`self.norm_2` reads the new x, not the normed vectors of the first step.",
        ],
    ),
    *layer_mistakes.shared(
        norms=[OneNormForBoth, SecondNormForBoth, NormsSwapped],
        weights=NormsWithoutTheirWeights,
        mask=MaskIgnored,
        mask_turned=MaskTurnedRound,
        once=[XOnlyOnce, XOnlyTwice, XTwiceAndTheMask],
        order=NetworkFirst,
        half=OnlyAttention,
        lost=[NoAttention, NoAttentionAndTheFirstNorm],
        in_place=AddsInPlace,
        dropout=DropsInTraining,
    ),
]
