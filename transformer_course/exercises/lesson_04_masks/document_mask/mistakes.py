"""What goes wrong when packed documents are kept apart."""

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_04_masks.document_mask.answer import STEPS
from transformer_course.exercises.shared import mask_mistakes

MISTAKES = [
    Mistake(
        "sees_its_whole_document",
        STEPS.but(both=lambda same: same),
        does="the causal half plays no part",
        says="Each position sees its whole document, and so the future: the causal half is missing.",
        hints=[
            "What may the first position attend to? What does its row say?",
            "Two conditions have to hold for a key: the same document, and not later.",
            "Join what you have with `parts.causal_mask(n)`.",
        ],
    ),
    Mistake(
        "sees_earlier_documents",
        STEPS.but(both=lambda same, not_later: not_later.expand_as(same)),
        does="the half about documents plays no part",
        says="Each position sees all that came before, whatever document it is in: this is the causal mask alone.",
        hints=[
            "What may the first token of the second document attend to?",
            "Two conditions have to hold for a key: the same document, and not later.",
            "`documents[:, :, None] == documents[:, None, :]` says which query and key are of one document.",
        ],
    ),
    Mistake(
        "either_will_do",
        STEPS.but(both=lambda same, not_later: same | not_later),
        does="it is enough that one of the two conditions holds",
        says="{does}: the same document *or* not later. Look at how the two are joined.",
        hints=[
            "What does the first row say?",
            "`|` is *or*. What is *and*?",
        ],
    ),
    Mistake(
        "other_documents",
        STEPS.but(same=lambda queries, keys: queries != keys),
        does="a key has to be of *another* document",
        says="{does}, so no position sees itself. Look at the comparison.",
        hints=[
            "May a position attend to itself? What does the diagonal say?",
            "What does `!=` make of two equal numbers?",
        ],
    ),
    Mistake(
        "and_later_documents",
        STEPS.but(same=lambda queries, keys: queries <= keys),
        STEPS.but(same=lambda queries, keys: queries >= keys),
        does="the numbers of the documents are compared by size",
        says="{does}. The numbers are only names: a smaller one means nothing. Look at the comparison.",
        hints=[
            "Exchange the numbers of two documents. Should the mask change?",
            "Two positions belong together if their numbers are equal.",
        ],
    ),
    Mistake(
        "forbidden_is_true",
        STEPS.but(both=lambda both: ~both),
        does="the entries are True where attending is forbidden",
        says="Every entry is inverted: True stands where attending is forbidden. Here, True means: may attend.",
        hints=[
            "What does the diagonal say? May a position attend to itself?",
            "This is the meaning that `nn.MultiheadAttention` gives to a mask.",
            "`~` in front of the whole, or leave it out if there is one.",
        ],
    ),
    Mistake(
        "sees_what_comes_after",
        STEPS.but(not_later=lambda not_later: not_later.mT),
        does="rows and columns of the triangle have changed places",
        says="The triangle is the wrong one: each position sees itself and what comes *after* it in its document.",
        hints=[
            "What does the first row say?",
            "Rows are queries, columns are keys: j ≤ i is the lower triangle.",
            "`tril`, not `triu`.",
        ],
    ),
    Mistake(
        "one_ahead",
        STEPS.but(diagonal=lambda: 1),
        does="the triangle goes one diagonal too far",
        says="Every position may also attend to the *next* one of its document, the one that it has to predict.",
        hints=[
            "What does the first row say?",
            "Which diagonal is the last that is allowed?",
            "`.tril()` without a number.",
        ],
    ),
    Mistake(
        "without_itself",
        STEPS.but(diagonal=lambda: -1),
        does="the diagonal itself is left out of the triangle",
        says="No position may attend to itself, so the first of each document may attend to nothing.",
        hints=[
            "What does the first row say?",
            "When the token after position i is predicted, the one at i is known.",
            "`.tril()` without a number.",
        ],
    ),
    Mistake(
        "no_axis_for_the_heads",
        STEPS.but(mask=lambda both: both),
        does="the axis for the heads is missing",
        says="The entries are right, but {does}: with (batch, n, n), the texts would meet the *heads* of the scores.",
        hints=[
            "Which shape is asked for?",
            "Write the shapes below each other, aligned on the right: (batch, n, n) and (batch, n_heads, n, n).",
            "One more axis of length 1 after the batch: `[:, None]`.",
        ],
    ),
    Mistake(
        "axis_for_the_heads_in_front",
        STEPS.but(mask=lambda both: both[None]),
        does="the axis for the heads stands in front of the batch",
        says="{does}, so the texts would meet the *heads* of the scores. Right for one text, wrong for more.",
        hints=[
            "Which shape is asked for? Which comes out for 2 texts?",
            "The batch has to stay in front: (batch, 1, n, n).",
        ],
    ),
    Mistake(
        "only_the_first_text",
        STEPS.but(same=lambda same: same[:1].expand_as(same)),
        does="the documents of the first text are used for all texts",
        says="{does} of the batch. Each text is packed in its own way.",
        hints=[
            "Does the result change if the second row of `documents` does?",
            "Keep the batch as the first axis all along.",
        ],
    ),
    Mistake(
        "as_long_as_the_batch",
        STEPS.but(n=lambda documents: documents.shape[0]),
        does="the triangle is as long as there are texts",
        says="The triangle is as long as there are *texts*, not as one text is long. It crashes where the two differ.",
        hints=[
            "Which axis of `documents` counts the tokens?",
            "`documents.shape[0]` and `len(documents)` are the batch.",
        ],
    ),
    mask_mistakes.of_numbers(STEPS),
    mask_mistakes.to_be_added(STEPS),
    mask_mistakes.a_list(STEPS),
]
