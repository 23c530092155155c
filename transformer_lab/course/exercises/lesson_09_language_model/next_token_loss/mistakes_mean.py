"""What goes wrong when the losses of tokens become one number."""

import torch

from transformer_lab.course.exercise import Mistake
from transformer_lab.course.exercises.lesson_09_language_model.next_token_loss.answer import STEPS
from transformer_lab.course.exercises.shared.padding_mistakes import which_targets

REAL = "`losses[targets != pad_id].mean()`."


def by_text(losses, real):
    """Return the sum of the losses of each text."""
    return (losses * real).sum(dim=1)


MISTAKES = [
    Mistake(
        "counts_the_padding",
        STEPS.but(real=lambda targets: torch.ones_like(targets, dtype=torch.bool)),
        does="padding is counted like any other token",
        says=(
            "Padding is counted: the model is asked to predict it, and the loss depends on how much of it a batch "
            "happens to have."
        ),
        hints=[
            "Append a column of padding to the tokens. Should the loss change?",
            "Where the target is `pad_id`, nothing is asked of the model.",
            "Take the mean of `losses[targets != pad_id]`, or give `ignore_index` to torch's function.",
        ],
    ),
    Mistake(
        "padding_only",
        STEPS.but(real=lambda targets, pad_id: targets == pad_id),
        does="the mask is inverted: only padding is counted",
        says="Only the padding is counted. The mask is inverted.",
        hints=[
            "For which targets is `targets == pad_id` True?",
            "The real tokens are all the others.",
            REAL,
        ],
    ),
    Mistake(
        "padding_of_the_inputs",
        STEPS.but(real=lambda tokens, pad_id: tokens[:, :-1] != pad_id),
        does="padding is looked for in the tokens that predict, not in those that are predicted",
        says=(
            "Padding is looked for in the tokens that *predict*. So the last real token of a text is still asked for "
            "the padding that follows it."
        ),
        hints=[
            "A text of 3 tokens and 2 of padding: how many predictions count? There should be 2.",
            "The mask is that of the targets: what is asked for, not what is read.",
            "Compare `tokens[:, 1:]` with `pad_id`.",
        ],
    ),
    Mistake(
        "mask_without_the_shift",
        STEPS.but(real=lambda tokens, pad_id: tokens != pad_id),
        STEPS.but(
            real=lambda tokens, pad_id: tokens != pad_id, total=lambda losses, real: (losses * real).sum()
        ).attempt,
        does="the mask of the padding has n positions, and there are n − 1 losses",
        says="The mask of the padding is made of all n tokens, and there are n − 1 losses. So they do not fit.",
        hints=[
            "Print the shapes of the losses and of the mask.",
            "To which of the tokens does a loss belong?",
            "Compare `tokens[:, 1:]` with `pad_id`.",
        ],
    ),
    *which_targets(STEPS, "`targets != pad_id`.", below="tokens_below_the_padding_left_out"),
    Mistake(
        "padding_where_the_model_says_so",
        STEPS.but(real=lambda predictions, pad_id: predictions.argmax(dim=-1) != pad_id),
        does="what is padding is read off the logits, not off the targets",
        says="Positions are left out where the *model* expects padding. Where it really is, the targets say.",
        hints=[
            "What happens to a real token where the model expects padding? Is it counted?",
            "A model could lower this loss by expecting padding wherever it is unsure.",
            "`targets != pad_id`.",
        ],
    ),
    Mistake(
        "hides_padding_in_the_logits",
        STEPS.but(
            predictions=lambda predictions, targets, pad_id: predictions * (targets != pad_id).unsqueeze(-1),
            real=lambda targets: torch.ones_like(targets, dtype=torch.bool),
        ),
        does="padding is masked in the logits, and still counted",
        says=(
            "The logits at padding are set to 0, and the padding is still counted: equal probabilities cost log V "
            "there."
        ),
        hints=[
            "What is the `log_softmax` of the logits 0, 0, 0?",
            "The mask should act on the losses, (batch, n − 1), not on the logits.",
            REAL,
        ],
    ),
    Mistake(
        "mean_of_means",
        STEPS.but(loss=lambda losses, real: (by_text(losses, real) / real.sum(dim=1)).mean()),
        STEPS.but(loss=lambda losses, real: (by_text(losses, real) / real.sum(dim=1).clamp(min=1)).mean()).attempt,
        does="the mean of each text is taken first, and then the mean of these",
        says="{does}: a token of a short text counts more than one of a long text.",
        hints=[
            "Two texts with 1 and 9 predictions: how much does each of the 10 count?",
            "All real tokens of the batch should count the same.",
            "One sum over the whole batch, divided by one count: " + REAL,
        ],
    ),
    Mistake(
        "divides_by_all_positions",
        STEPS.but(n_tokens=lambda targets: targets.numel()),
        STEPS.but(n_tokens=lambda tokens: tokens.numel()),
        does="the sum is divided by the number of all positions, padding included",
        says=(
            "The losses of padding are left out, but its positions are still counted in the mean: the more padding, "
            "the smaller the loss."
        ),
        hints=[
            "By which number is the sum divided: by all positions, or by the real targets?",
            "A zero counts in a mean, too.",
            "Select before taking the mean: " + REAL,
        ],
    ),
    Mistake(
        "counts_the_first_tokens",
        STEPS.but(n_tokens=lambda tokens, pad_id: (tokens != pad_id).sum()),
        does="the sum is divided by the number of real *tokens*, the first of each text included",
        says=(
            "The sum is divided by the number of all real tokens. The first token of a text is predicted by nothing, "
            "so there is one prediction less in each text."
        ),
        hints=[
            "How many predictions do 4 tokens give?",
            "Of which tokens are there losses, and which are counted?",
            "Count where `targets`, not `tokens`, is real: " + REAL,
        ],
    ),
    Mistake(
        "counts_what_is_not_zero",
        STEPS.but(n_tokens=lambda losses, real: (losses * real != 0).sum()),
        does="the sum is divided by the number of losses that are not 0",
        says=(
            "The losses that are not 0 are counted. A real token of which the model is quite sure has a loss of "
            "exactly 0, and is missing from the count."
        ),
        hints=[
            "What is the loss of a token whose logit is 200 above all the others?",
            "Which targets are real is told by the targets, not by the losses.",
            REAL,
        ],
    ),
    Mistake(
        "adds_up",
        STEPS.but(loss=lambda total: total),
        does="the sum over the tokens is not divided by anything",
        says="This is the sum over the real tokens. Large batches get a large loss, and large gradients.",
        hints=[
            "By which number should the sum be divided?",
            "The mean over the real tokens is asked for.",
            '`.mean()` instead of `.sum()`, or `reduction="mean"`.',
        ],
    ),
    Mistake(
        "divides_by_the_texts",
        STEPS.but(n_tokens=lambda tokens: len(tokens)),
        does="the sum is divided by the number of texts",
        says="{does}. Tokens are what the mean is taken over.",
        hints=[
            "Does the loss depend on how long the texts are, even if every token is guessed equally well?",
            "How many real targets are there?",
            REAL,
        ],
    ),
    Mistake(
        "divides_by_the_length",
        STEPS.but(n_tokens=lambda tokens: tokens.shape[1]),
        STEPS.but(n_tokens=lambda targets: targets.shape[1]),
        does="the sum is divided by the length of the texts",
        says="{does}, not by the number of real targets in the batch.",
        hints=[
            "Does the loss double if the same texts are in the batch twice?",
            "How many real targets are there, in all texts together?",
            REAL,
        ],
    ),
    Mistake(
        "a_loss_for_each_token",
        STEPS.but(loss=lambda losses, real: losses * real),
        STEPS.but(loss=lambda losses: losses).attempt,
        STEPS.but(loss=lambda losses, real: losses[real]),
        does="there is a loss for each token, and they are not put together",
        says="There is a loss for each token. One number is asked for: their mean over the real tokens.",
        hints=[
            "What shape is asked for?",
            "The zeros of the padding must not count in the mean.",
            REAL,
        ],
    ),
    Mistake(
        "a_loss_for_each_text",
        STEPS.but(loss=lambda losses, real: by_text(losses, real) / real.sum(dim=1)),
        STEPS.but(loss=lambda losses, real: by_text(losses, real)),
        STEPS.but(loss=lambda losses, real: (losses * real).mean(dim=1)).attempt,
        does="there is a number for each text, not one for all of them",
        says="There is a number for each text. One number is asked for: the mean over all real tokens of the batch.",
        hints=[
            "What shape is asked for?",
            "All real tokens of the batch should count the same, whatever text they are in.",
            REAL,
        ],
    ),
    Mistake(
        "perplexity",
        STEPS.but(loss=lambda loss: loss.exp()),
        does="`exp` is taken of the mean loss",
        says="This is e to the power of the loss, the perplexity. The loss itself is asked for.",
        hints=[
            "What is the loss of a model that is sure and right? Here it is 1.",
            "There is one function too many at the end.",
            "Return the mean as it is, without `exp`.",
        ],
    ),
    Mistake(
        "only_the_first_text",
        STEPS.but(logits=lambda logits: logits[:1], tokens=lambda tokens: tokens[:1]),
        does="only the first text of the batch is used",
        says="Only the first text of the batch has a say. The mean runs over the real tokens of all of them.",
        hints=[
            "Change the second text. Should the loss stay the same?",
            "What does the index 0 pick: a text, a position or a token?",
            "Slice the second axis only: `logits[:, :-1]` and `tokens[:, 1:]`.",
        ],
    ),
    Mistake(
        "without_the_gradient",
        STEPS.but(loss=lambda loss: loss.detach()).attempt,
        STEPS.but(loss=lambda loss: loss.item()).attempt,
        says="The number is right, but it is cut off from the logits: no gradient gets back to the model.",
        hints=[
            "What does `.backward()` need?",
            "`.item()`, `.tolist()`, `.detach()` and `torch.no_grad()` end the path that gradients take.",
            "Leave them out, and return the tensor itself.",
        ],
    ),
]
