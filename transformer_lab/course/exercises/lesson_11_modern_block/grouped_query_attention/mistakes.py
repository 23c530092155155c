"""What goes wrong where heads of queries share keys and values."""

from transformer_lab.course.exercise import Mistake
from transformer_lab.course.exercises.lesson_11_modern_block.grouped_query_attention.answer import STEPS

MISTAKES = [
    Mistake(
        "heads_repeated_in_turn",
        [STEPS.but(repeated=lambda n_repeats: lambda heads: heads.repeat(1, n_repeats, 1, 1))],
        does="the heads of keys and values are repeated as a whole, 0 1 0 1, not each next to itself, 0 0 1 1",
        says=(
            "The heads of keys and values are repeated as a whole: 0 1 0 1. Each should be repeated next to itself, "
            "0 0 1 1, as neighbouring heads of queries share one. Published weights would not fit. Look at the "
            "function that repeats."
        ),
        hints=[
            "With 4 heads of queries and 2 of keys, which keys do the first two heads of queries meet?",
            "`repeat` puts copies of the whole behind one another.",
            "`repeat_interleave(self.n_heads // self.n_kv_heads, dim=1)`.",
        ],
    ),
    Mistake(
        "scaled_by_the_models_width",
        [STEPS.but(width=lambda x: x.shape[-1])],
        does="`d_model` is taken for d_k",
        says=(
            "The scores are divided by the root of d_model. A score adds up only d_k products. Look at which width is "
            "taken."
        ),
        hints=[
            "How many products are added up in one score of one head?",
            "After the split, d_model is not the width of anything any more.",
            "√d_k, where d_k is `q.shape[-1]` after the split.",
        ],
    ),
    Mistake(
        "mask_inverted",
        [STEPS.but(mask=lambda mask: None if mask is None else ~mask)],
        does="the mask is read the wrong way round",
        says="The mask is read the wrong way round: what is allowed gets hidden. True means *may attend*.",
        hints=[
            "With a mask that is True everywhere, what becomes of the scores?",
            "`masked_fill` fills where its first argument is True. Where should it fill?",
            "`~mask` instead of `mask`.",
        ],
    ),
    Mistake(
        "no_output_projection",
        [STEPS.but(output=lambda merged: merged)],
        does="`w_o` is not used",
        says="The heads stand side by side, and nothing mixes them: `w_o` is not used. One step is missing at the end.",
        hints=[
            "After `output.sum().backward()`, is there a layer whose `.weight.grad` is None?",
            "MultiHead = Concat(head_1 … head_h) W_O. Which of these has not happened?",
            "Send the merged heads through `self.w_o`.",
        ],
    ),
]
