"""What goes wrong when the losses of tokens are put together."""

import torch
from torch import nn

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_08_training.smoothed_cross_entropy.answer import STEPS
from transformer_course.exercises.shared.log_probability_mistakes import of_the_pick
from transformer_course.exercises.shared.mean_loss_mistakes import of_the_mean, row_sums
from transformer_course.exercises.shared.padding_mistakes import which_targets


def classes_on_the_wrong_axis(logits, targets, pad_id, smoothing):
    return nn.functional.cross_entropy(logits, targets, ignore_index=pad_id, label_smoothing=smoothing)


def flattens_the_logits_only(logits, targets, pad_id, smoothing):
    return nn.functional.cross_entropy(logits.flatten(0, 1), targets, ignore_index=pad_id, label_smoothing=smoothing)


MISTAKES = [
    Mistake(
        "padding_of_the_first_sentence",
        STEPS.but(real=lambda real: real[:1].expand_as(real)),
        does="the padding of the first sentence is taken for that of all",
        says="{does}. Each sentence has its own. Look at what is indexed.",
        hints=["Where does the second sentence end?", "Which row of the targets is compared with `pad_id`?"],
    ),
    *which_targets(STEPS, below="all_tokens_below_the_padding_left_out"),
    Mistake(
        "padding_where_the_model_says_so",
        STEPS.but(real=lambda logits, pad_id: logits.argmax(dim=-1) != pad_id),
        does="what is padding is read off the logits, not off the targets",
        says="The positions are left out where the *model* expects padding. Where it really is, the targets say.",
        hints=[
            "What happens to a real token for which the model would write padding? Is it counted?",
            "A model could lower this loss by expecting padding wherever it is unsure.",
        ],
    ),
    Mistake(
        "hides_padding_in_the_logits",
        STEPS.but(
            logits=lambda logits, pad_id, targets: logits * (targets != pad_id).unsqueeze(-1),
            real=lambda targets: torch.ones_like(targets, dtype=torch.bool),
        ),
        does="padding is masked in the logits, and still counted",
        says=(
            "The logits at padding are set to 0, and the padding is still counted: even probabilities cost log V there."
        ),
        hints=[
            "What is the `log_softmax` of the logits 0, 0, 0?",
            "The mask should act on the losses, (batch, n), not on the logits.",
            "`losses[targets != pad_id].mean()`.",
        ],
    ),
    Mistake(
        "masks_one_term_only",
        STEPS.but(
            total=lambda of_targets, average, target_weight, smoothing_weight, real: (
                target_weight * of_targets * real + smoothing_weight * average
            ).sum()
        ),
        does="the average over the vocabulary is added up at every position, padding included",
        says=(
            "Padding is left out of one of the two terms only: the average over the vocabulary is still added up at "
            "*every* position."
        ),
        hints=[
            "With smoothing 0, does padding change the loss? And with smoothing 0.1?",
            "The loss of a position has two terms. Both should be left out where there is padding.",
            "First add the two terms, then select: `losses[targets != pad_id]`.",
        ],
    ),
    Mistake(
        "masks_the_target_term_not",
        STEPS.but(
            total=lambda of_targets, average, target_weight, smoothing_weight, real: (
                target_weight * of_targets + smoothing_weight * average * real
            ).sum()
        ),
        does="the term of the target is added up at every position, padding included",
        says=(
            "Padding is left out of one of the two terms only: the term of the target is still added up at *every* "
            "position."
        ),
        hints=[
            "With smoothing 0, does padding change the loss?",
            "The loss of a position has two terms. Both should be left out where there is padding.",
            "First add the two terms, then select: `losses[targets != pad_id]`.",
        ],
    ),
    Mistake(
        "divides_by_the_length",
        STEPS.but(n_tokens=lambda targets: targets.shape[1]),
        does="the sum is divided by the length n of the sentences",
        says="The sum is divided by n, the length of the table. The real tokens of *all* sentences should be counted.",
        hints=[
            "With twice as many sentences of the same kind, should the loss be twice as large?",
            "How many real tokens are there in the batch?",
            "`losses[targets != pad_id].mean()`.",
        ],
    ),
    Mistake(
        "a_mean_for_each_sentence_first",
        STEPS.but(loss=lambda losses, real: (row_sums(losses, real) / real.sum(dim=1)).mean()),
        does="each sentence is averaged first, and then the sentences",
        says="{does}: a token of a short sentence counts more than one of a long sentence.",
        hints=[
            "A sentence of 1 token and one of 9: how much does each of the ten tokens count?",
            "All real tokens of the batch should count the same.",
            "One mean over all of them: `losses[targets != pad_id].mean()`.",
        ],
    ),
    Mistake(
        "adds_the_means_of_the_sentences",
        STEPS.but(loss=lambda losses, real: (row_sums(losses, real) / real.sum(dim=1)).sum()),
        does="the means of the sentences are added up",
        says=(
            "The mean of each sentence is taken, and these means are added up. One mean over all real tokens is asked "
            "for."
        ),
        hints=[
            "A sentence of 1 token and one of 9: how much does each of the ten tokens count?",
            "All real tokens of the batch should count the same.",
            "One mean over all of them: `losses[targets != pad_id].mean()`.",
        ],
    ),
    Mistake(
        "divides_by_the_vocabulary_too",
        STEPS.but(n_tokens=lambda real, logits: real.sum() * logits.shape[-1]),
        does="the mean runs over the vocabulary as well as over the tokens",
        says="{does}: the larger the vocabulary, the smaller the loss. Within one token, the terms are added up.",
        hints=[
            "How many numbers are averaged: as many as there are real tokens, or V times as many?",
            "The weights of a smoothed target add up to 1, so they make a mean by themselves.",
            "First `.sum(dim=-1)`, then the mean over the real tokens.",
        ],
    ),
    Mistake(
        "only_the_first_sentence",
        STEPS.but(logits=lambda logits: logits[:1], targets=lambda targets: targets[:1]),
        does="only the first sentence of the batch is used",
        says="Only the first sentence of the batch has a say. The mean runs over the real tokens of all of them.",
        hints=[
            "Change the second sentence. Should the loss stay the same?",
            "What does the index 0 pick: a sentence, a position or a token?",
            "Keep the whole tables: `losses[targets != pad_id].mean()`.",
        ],
    ),
    Mistake(
        "classes_on_the_wrong_axis",
        classes_on_the_wrong_axis,
        says=(
            "torch's function takes the second axis for the vocabulary, and here that is the position. It crashes, or, "
            "where the two happen to fit, compares the wrong numbers."
        ),
        hints=[
            "In which order does `nn.functional.cross_entropy` want the axes? Its help says (N, C) or (N, C, d1).",
            "Either all tokens in one long list, or the vocabulary as the second axis.",
            "`logits.flatten(0, 1)` and `targets.flatten()`, or `logits.transpose(1, 2)`.",
        ],
    ),
    Mistake(
        "flattens_the_logits_only",
        flattens_the_logits_only,
        says=(
            "The logits are one long list of tokens, and the targets still are a table. torch's function wants both in "
            "the same form."
        ),
        hints=[
            "Which shapes do the two arguments have?",
            "With logits of shape (tokens, vocab_size), targets have the shape (tokens).",
            "`targets.flatten()`.",
        ],
    ),
    Mistake(
        "an_axis_too_many",
        STEPS.but(
            of_targets=lambda surprises, targets: surprises.gather(-1, targets.unsqueeze(-1)),
            loss=lambda losses, real: losses[real].mean(),
        ),
        STEPS.but(
            of_targets=lambda surprises, targets: surprises.gather(-1, targets.unsqueeze(-1)),
            total=lambda losses, real: (losses * real).sum(),
        ),
        does="what `gather` returns keeps its last axis, of length 1",
        says=(
            "What `gather` gives has an axis of length 1 at its end. Beside one number for each token it crashes, or "
            "pairs every token with every other."
        ),
        hints=[
            "Print the shapes of the two terms. Both should be (batch, n).",
            "`gather` gives the shape of its index, which is (batch, n, 1).",
            "`.squeeze(-1)` behind the `gather`.",
        ],
    ),
    Mistake(
        "flattened_in_another_order",
        STEPS.but(logits=lambda logits: logits.transpose(0, 1).reshape(logits.shape)),
        does="logits and targets are flattened in different orders",
        says=(
            "Logits and targets do not belong together: one of them is flattened sentence by sentence, the other is "
            "not."
        ),
        hints=[
            "Which logits meet the second target of the first sentence?",
            "`flatten` goes along the last axis first, so both must have (batch, n) in the same order.",
            "`logits.flatten(0, 1)` and `targets.flatten()`, with no transposition before.",
        ],
    ),
    *of_the_mean(STEPS, "sentence", "targets", lambda targets: targets.numel()),
    *of_the_pick(
        STEPS,
        "of_targets",
        "surprises",
        STEPS.but(
            of_targets=lambda surprises, targets: surprises[..., targets],
            loss=lambda of_targets, average: of_targets + average,
        ),
        STEPS.but(of_targets=lambda surprises, targets: surprises[..., targets]).attempt,
        STEPS.but(of_targets=lambda surprises, targets: surprises[targets]),
        STEPS.but(of_targets=lambda surprises, targets: surprises[:, targets]).attempt,
    ),
]
