"""Mistakes that can be made in both kinds of layer, so that each is written once.

The answers of both layers have steps of the same names: ``queries``, ``keys``, ``values``, ``attended``, ``sum_1``,
``first_norm``, ``normed_1``, ``computed``, ``sum_2``, ``second_norm``, ``normed_2``.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from transformer_course.exercise import Mistake
from transformer_course.exercises.shared.remembered_call_mistakes import that_remember_outputs
from transformer_course.steps import InSteps, Variant


def mistakes_with_the_mask(steps: InSteps) -> list[Mistake]:
    """Describe what goes wrong on a mask's way to the attention."""
    return [
        Mistake(
            "mask_ignored",
            steps.but(mask=lambda: None),
            does="the mask has no effect",
            says="{does}: positions attend to what is hidden from them. Look at what the attention is given.",
            hints=["Change a token that the mask hides. Does anything change?"],
        ),
        Mistake(
            "some_masks_ignored",
            *_alone(
                [
                    _mask_if(steps, lambda mask: mask.dim() > 2),
                    _mask_if(steps, lambda mask: mask.dim() == 2),
                    _mask_if(steps, lambda mask: mask.dim() == 4 and mask.shape[2] == 1),
                ]
            ),
            does="masks of some shapes have no effect",
            says="{does}. A mask may have two, three or four axes. Look at where it is tested.",
            hints=[
                "Which shapes of masks does the annotation of `forward` allow?",
                "Every mask that is not None should reach the attention.",
                "Hand the mask on as it comes.",
            ],
        ),
        Mistake(
            "mask_inverted",
            _but_mask(steps, lambda mask: ~mask),
            does="the mask is inverted",
            says="{does}: positions attend to what is hidden, and only to that.",
            hints=["What does True mean in our masks, and what in `nn.MultiheadAttention` (lesson 04)?"],
        ),
        Mistake(
            "mask_in_one_mode_only",
            steps.but(mask=lambda self, mask: mask if self.training else None),
            steps.but(mask=lambda self, mask: None if self.training else mask),
            does="the mask has an effect in only one of the modes `train` and `eval`",
        ),
        Mistake(
            "mask_of_the_first_sentence",
            _but_mask(steps, lambda mask: mask[:1] if mask.dim() > 2 else mask),
            _but_mask(steps, lambda mask: mask[0]),
            does="only the first entry of the mask is used",
            says=(
                "{does}, so that, in a batch, the first sentence's mask holds for all sentences. Each has a mask of "
                "its own. Look at what becomes of the mask."
            ),
            hints=["In a mask of shape (batch, 1, 1, n), what does the first axis count?"],
        ),
        Mistake(
            "mask_of_one_position",
            *_alone(
                [
                    _but_mask(steps, lambda mask: mask[..., :1, :]),
                    _but_mask(steps, lambda mask: mask[..., -1:, :]),
                ]
            ),
            does="all positions of a sentence get the same row of the mask",
            says=(
                "{does}, though in a mask of shape (n, n) each has a row of its own. Look at what becomes of the mask."
            ),
            hints=[
                "In a causal mask, what may the first position see, and what the last?",
                "The attention broadcasts a mask by itself, whichever of its axes have length 1.",
                "Hand the mask on as it is.",
            ],
        ),
        Mistake(
            "mask_transposed",
            *_alone([_but_mask(steps, lambda mask: mask.mT)]),
            does="the last two axes of the mask are swapped",
            says=(
                "{does}: instead of what a position may see, it says by whom the position may be seen. Look at what "
                "becomes of the mask."
            ),
            hints=[
                "In a mask of shape (n, n), do the rows belong to the queries or to the keys?",
                "The rows belong to the queries, as they do in the attention of lesson 04.",
                "Hand the mask on as it is.",
            ],
        ),
        Mistake(
            "mask_with_another_axis",
            *_alone(
                [
                    _but_mask(steps, lambda mask: mask.unsqueeze(0)),
                    _but_mask(steps, lambda mask: mask.unsqueeze(1)),
                    _but_mask(steps, lambda mask: mask.unsqueeze(-1)),
                    _but_mask(steps, lambda mask: mask[:, None, None, :]),
                ]
            ),
            does="the mask is given one more axis, or several",
            says=(
                "{does}: it fits the scores already. Where it does not crash, it hides other things, or adds an axis "
                "to the output. Look at what becomes of the mask."
            ),
            hints=[
                "Which shape have the scores of all heads, and which shapes fit them?",
                "(batch, 1, 1, n) and (n, n) both broadcast to (batch, heads, n, n).",
                "Hand the mask on as it is.",
            ],
        ),
        Mistake(
            "mask_as_numbers",
            *_alone(
                [
                    _but_mask(steps, lambda mask: mask.float()),
                    _but_mask(steps, lambda mask: mask.long()),
                ]
            ),
            does="the mask is turned into numbers",
            says="{does}. The attention reads one of True and False.",
            hints=[
                "Which dtype has the mask that came in, and which the one that the attention gets?",
                "True means: may attend. The attention knows what to do with that.",
                "Hand the mask on as it is.",
            ],
        ),
        Mistake(
            "causal_mask_of_its_own",
            steps.but(mask=lambda x: _causal(x)),
            steps.but(mask=lambda x, mask: _causal(x) if mask is None else mask),
            steps.but(mask=lambda x, mask: _causal(x) if mask is None else mask & _causal(x)),
            does="positions see no later ones, by a causal mask that nothing asked for",
            says=(
                "Positions see no later ones, though no mask says so: a causal mask is made here. In an encoder every "
                "position may see the whole sentence, unless the mask that is passed in hides something."
            ),
            hints=["Change the last vector of a sentence, with no mask. Does the output for the first one change?"],
        ),
    ]


def mistakes_with_the_attention(
    steps: InSteps, *, unused: Sequence[Variant], order: Variant, only_half: Variant, instead_of_the_network: Variant
) -> list[Mistake]:
    """Describe what goes wrong in calling the sublayers.

    Args:
        steps: The answer in steps.
        unused: The answer without what the attention returned.
        order: The one in which the network comes first.
        only_half: The one that ends after the attention.
        instead_of_the_network: The one that attends twice.
    """
    return [
        Mistake(
            "x_only_once",
            steps.but(attended=lambda self, queries, mask: self.self_attention(queries, mask=mask)),
            steps.but(attended=lambda self, queries, mask: self.self_attention(queries, mask)),
            steps.but(attended=lambda self, queries, keys, mask: self.self_attention(queries, keys, mask)),
            does="the attention is not given queries, keys and values, and then the mask",
            says="{does}: in self-attention, the first three are the same vectors.",
            hints=["How was multi-head attention called in lesson 03?"],
        ),
        Mistake(
            "taken_for_a_pair",
            *_alone(
                [
                    steps.but(
                        attended=lambda self, queries, keys, values, mask: _first_of_two(
                            self.self_attention(queries, keys, values, mask)
                        )
                    ),
                    steps.but(attended=lambda attended: attended[0]),
                ]
            ),
            says=(
                "The output of the attention is taken for a pair of output and weights, as torch's own module returns. "
                "What is taken apart here is the batch."
            ),
            hints=[
                "What does the multi-head attention of lesson 03 return?",
                "`a, b = tensor` splits the first axis, and `tensor[0]` is its first entry.",
                "Take the output as it comes.",
            ],
        ),
        Mistake(
            "torchs_keyword",
            *_alone(
                [
                    steps.but(
                        attended=lambda self, queries, mask: self.self_attention(
                            queries, queries, queries, attn_mask=mask
                        )
                    ),
                    steps.but(
                        attended=lambda self, queries, mask: self.self_attention(
                            queries, queries, queries, key_padding_mask=mask
                        )
                    ),
                ]
            ),
            says=(
                "The attention is called as torch's own `nn.MultiheadAttention` is. That of lesson 03 takes the mask "
                "as its fourth argument, and calls it `mask`."
            ),
            hints=[
                "Which arguments does `forward` of the multi-head attention of lesson 03 have?",
                "The name in the error is one of torch's own module.",
                "`self.self_attention(x, x, x, mask)`, with the right three in front.",
            ],
        ),
        Mistake(
            "network_first",
            order,
            does="the network comes before the attention",
            hints=["What happens first in a layer: attending to other positions, or computing with what was found?"],
        ),
        Mistake(
            "only_attention",
            only_half,
            does="the layer ends after the attention",
        ),
        Mistake(
            "no_attention",
            *unused,
            does="the output of the attention has no effect",
        ),
        Mistake(
            "attention_instead_of_the_network",
            instead_of_the_network,
            does="the attention is used a second time, where the network belongs",
            hints=["Which of the four modules is never used?"],
        ),
        Mistake(
            "sublayer_applied_twice",
            *_alone(
                [
                    steps.but(
                        attended=lambda self, attended, mask: self.self_attention(attended, attended, attended, mask)
                    ),
                    steps.but(computed=lambda self, computed: self.feed_forward(computed)),
                ]
            ),
            does="a sublayer is applied once more, to its own output",
            says="A sublayer is applied twice: once more, to its own output. Look at how often each is called.",
            hints=[
                "How often does each of the four modules occur in the two formulas?",
                "Attention once, network once.",
                "What goes into the sum is the output of a single call.",
            ],
        ),
        Mistake(
            "relu_on_an_output",
            steps.but(computed=lambda computed: torch.relu(computed)),
            steps.but(attended=lambda attended: torch.relu(attended)),
            does="a ReLU is applied to the output of a sublayer",
            says=(
                "{does}, so that it can only add, and never take away. Look at what happens between a sublayer and the "
                "sum."
            ),
            hints=["Can the output of a sublayer be negative? Is what is added ever negative?"],
        ),
        Mistake(
            "batch_and_positions_swapped",
            *_alone(
                [
                    _but_reads(steps, lambda read: read.transpose(0, 1)),
                    steps.but(
                        attended=lambda self, queries, keys, values, mask: self.self_attention(
                            queries.transpose(0, 1), keys.transpose(0, 1), values.transpose(0, 1), mask
                        ).transpose(0, 1)
                    ),
                ]
            ),
            does="the axes of batch and positions are swapped before the attention",
            says=(
                "{does}, so that it mixes the sentences of the batch. `nn.MultiheadAttention` wants that by default; "
                "ours takes (batch, n, d_model)."
            ),
            hints=[
                "Change the second sentence of a batch. Does the output for the first one change?",
                "The attention of lesson 03 takes (batch, n, d_model).",
                "Hand x over without `transpose`.",
            ],
        ),
        Mistake(
            "drops_in_training",
            *_alone(
                [
                    _with_dropout(steps, probability, names)
                    for names, probability in (
                        (("attended", "computed"), 0.1),
                        (("attended", "computed"), 0.5),
                        (("attended",), 0.1),
                        (("computed",), 0.1),
                    )
                ]
            ),
            does="some of a sublayer's output is dropped at random in train mode",
            says=(
                "In train mode, some of the sublayers' output is dropped at random. The paper does so; in these "
                "exercises there is no dropout."
            ),
            hints=[
                "What differs between `train()` and `eval()`?",
                "Nothing in the formula is random.",
                "Leave the dropout out.",
            ],
        ),
    ]


def mistakes_with_the_sums(steps: InSteps) -> list[Mistake]:
    """Describe what goes wrong in adding a sublayer's output to its input."""
    return [
        Mistake(
            "adds_the_layers_input",
            steps.but(sum_2=lambda x, computed: x + computed),
            does="the network's output is added to what came into the whole layer",
        ),
        Mistake(
            "adds_the_attention",
            steps.but(sum_2=lambda attended, computed: attended + computed),
            does="the network's output is added to the bare output of the attention",
        ),
        Mistake(
            "network_reads_the_attention",
            steps.but(computed=lambda self, attended: self.feed_forward(attended)),
            does="the network reads the bare output of the attention",
        ),
        Mistake(
            "difference_instead_of_a_sum",
            steps.but(sum_1=lambda x, attended: x - attended),
            steps.but(sum_1=lambda x, attended: attended - x),
            steps.but(sum_2=lambda sum_2, computed: sum_2 - 2 * computed),
            steps.but(sum_2=lambda sum_2, computed: 2 * computed - sum_2),
            does="a difference is taken where a sum belongs",
            says="{does}: a minus stands between a sublayer's input and its output.",
            hints=["With all weights of a sublayer 0 and its biases 1, is the result larger than x?"],
        ),
        Mistake(
            "product_instead_of_a_sum",
            *_alone(
                [
                    steps.but(sum_1=lambda x, attended: x * attended),
                    steps.but(sum_2=lambda sum_2, computed: (sum_2 - computed) * computed),
                ]
            ),
            does="a product is taken where a sum belongs",
            says="{does}: a sublayer's output is multiplied by its input.",
            hints=[
                "With all weights and biases of a sublayer 0, what should be left?",
                "A residual connection adds.",
                "Both halves have a `+`.",
            ],
        ),
    ]


def mistakes_with_the_norms(steps: InSteps) -> list[Mistake]:
    """Describe what goes wrong in choosing a norm."""
    return [
        Mistake(
            "norm_1_for_both",
            steps.but(second_norm=lambda self: self.norm_1),
            does="`norm_1` is used where `norm_2` belongs",
        ),
        Mistake(
            "norm_2_for_both",
            steps.but(first_norm=lambda self: self.norm_2),
            does="`norm_2` is used where `norm_1` belongs",
        ),
        Mistake(
            "norms_swapped",
            steps.but(first_norm=lambda self: self.norm_2, second_norm=lambda self: self.norm_1),
            does="`norm_1` and `norm_2` are swapped",
        ),
        Mistake(
            "norms_without_their_weights",
            steps.but(first_norm=lambda: _standardised, second_norm=lambda: _standardised),
            steps.but(first_norm=lambda: _standardised),
            steps.but(second_norm=lambda: _standardised),
            does="vectors are normalised without the weight and bias of a norm",
            says=(
                "Vectors are normalised without the weights and biases that the norms have learned: they are brought "
                "to mean 0 and variance 1, and left at that."
            ),
            hints=["Which parameters get no gradient?"],
        ),
        Mistake(
            "only_the_weight_of_a_norm",
            *_alone(
                [
                    steps.but(first_norm=lambda self: partial(_without_bias, self.norm_1)),
                    steps.but(second_norm=lambda self: partial(_without_bias, self.norm_2)),
                ]
            ),
            does="a norm is used without its bias",
            says="{does}: only its weight has an effect.",
            hints=[
                "Which parameter gets no gradient?",
                "A module is called like a function, and then does all it has to.",
                "`self.norm_1(…)` and `self.norm_2(…)`.",
            ],
        ),
    ]


def remembers(reference: type[Any]) -> Mistake:
    """Describe layers that remember what an earlier call was given, or what came of it."""

    class RemembersTheLastMask(reference):
        def forward(self, x, mask=None):
            if mask is not None:
                self.mask = mask
            return super().forward(x, getattr(self, "mask", None))

    class RemembersTheFirstMask(reference):
        def forward(self, x, mask=None):
            if not hasattr(self, "mask"):
                self.mask = mask
            return super().forward(x, self.mask)

    return Mistake(
        "remembers_an_earlier_call",
        RemembersTheLastMask,
        RemembersTheFirstMask,
        *that_remember_outputs(reference),
        says=(
            "A call depends on an earlier one: the layer remembers a mask, or a result. Each call should depend on its "
            "own arguments and on the parameters, and on nothing else. Look for what is stored in `self`."
        ),
        hints=[
            "Call the layer twice, with other vectors and another mask, and compare with a new layer.",
            "What does `forward` write into `self`?",
            "Keep everything that belongs to a single call in variables of `forward`.",
        ],
    )


def _first_of_two(found: Any) -> Any:
    first, _ = found
    return first


def _alone(ways: Sequence[Variant]) -> list[Callable[..., Any]]:
    """Return ways that are not tried beside all others, which would take too long: few make them, or nothing shows."""
    return [way.attempt for way in ways]


def _mask_if(steps: InSteps, holds: Callable[[Tensor], bool]) -> Variant:
    return steps.but(mask=lambda mask: mask if mask is not None and holds(mask) else None)


def _but_mask(steps: InSteps, change: Callable[[Tensor], Tensor]) -> Variant:
    """Return the answer in which a mask, where there is one, is changed."""
    return steps.but(mask=lambda mask: None if mask is None else change(mask))


def _but_reads(steps: InSteps, change: Callable[[Tensor], Tensor]) -> Variant:
    """Return the answer in which all that the attention reads is changed."""
    return steps.but(
        queries=lambda queries: change(queries), keys=lambda keys: change(keys), values=lambda values: change(values)
    )


def _with_dropout(steps: InSteps, probability: float, names: Sequence[str]) -> Variant:
    """Return the answer in which the outputs of some sublayers are dropped in part, in train mode."""
    changes = {
        "attended": lambda self, attended: F.dropout(attended, probability, self.training),
        "computed": lambda self, computed: F.dropout(computed, probability, self.training),
    }
    return steps.but(**{name: changes[name] for name in names})


def _causal(x: Tensor) -> Tensor:
    return torch.ones(x.shape[-2], x.shape[-2], dtype=torch.bool).tril()


def _standardised(vectors: Tensor) -> Tensor:
    return F.layer_norm(vectors, vectors.shape[-1:])


def _without_bias(norm: Any, vectors: Tensor) -> Tensor:
    return norm(vectors) - norm.bias
