"""What goes wrong when the log-probability of a sentence is computed."""

import math

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_08_training.sequence_log_probability.answer import STEPS
from transformer_course.exercises.shared.final_result_mistakes import of_the_result
from transformer_course.exercises.shared.log_probability_mistakes import another_base, of_given_targets, of_the_pick


def classes_on_the_wrong_axis(logits, targets, pad_id):
    losses = torch.nn.functional.cross_entropy(logits, targets, ignore_index=pad_id, reduction="none")
    return -losses.sum(dim=-1)


MISTAKES = [
    Mistake(
        "padding_counts",
        STEPS.but(of_real_tokens=lambda of_tokens: of_tokens),
        does="padding counts like any other token",
    ),
    Mistake(
        "padding_only",
        STEPS.but(padding=lambda targets, pad_id: targets != pad_id),
        does="the mask is inverted: only padding is added up",
    ),
    Mistake(
        "padding_up_to_the_padding_id",
        STEPS.but(padding=lambda targets, pad_id: targets <= pad_id),
        does="tokens with an id *below* `pad_id` are taken for padding, too",
        says="Tokens with an id below that of padding are left out as well. Only one token is padding.",
        hints=["In one case the padding is token 2. Which tokens does the comparison leave out?"],
    ),
    Mistake(
        "padding_where_the_model_says_so",
        STEPS.but(padding=lambda logits, pad_id: logits.argmax(dim=-1) == pad_id),
        does="what is padding is read off the logits, not off the targets",
        says="The positions are left out where the *model* expects padding. Where it really is, the targets say.",
        hints=["What happens to a real token for which the model would write padding? Is it added?"],
    ),
    Mistake(
        "padding_is_impossible",
        STEPS.but(filling=lambda: -math.inf),
        STEPS.but(filling=lambda: -1e9),
        does="padding adds −∞, or a very negative number",
    ),
    Mistake(
        "padding_adds_one",
        STEPS.but(filling=lambda: 1.0),
        does="padding adds 1",
    ),
    Mistake(
        "hides_padding_in_the_logits",
        STEPS.but(
            logits=lambda logits, padding: logits.masked_fill(padding.unsqueeze(-1), 0.0),
            of_real_tokens=lambda of_tokens: of_tokens,
        ),
        STEPS.but(
            logits=lambda logits, padding: logits.masked_fill(padding.unsqueeze(-1), -math.inf),
            of_real_tokens=lambda of_tokens: of_tokens,
        ).attempt,
        does="the mask of the padding is applied to the logits",
        says="The padding is masked in the logits. A position whose logits are all equal still adds −log V to the sum.",
        hints=["What is the `log_softmax` of the logits 0, 0, 0?"],
    ),
    Mistake(
        "takes_padding_out_of_the_vocabulary",
        STEPS.but(logits=lambda logits, pad_id: logits.index_fill(-1, torch.tensor([pad_id]), -math.inf)),
        does="padding is taken out of the vocabulary",
        says="The padding is taken out of the *vocabulary*: the other tokens then share its probability, too.",
        hints=["Add up the probabilities of the real tokens at one position, as the model gives them. Is that 1?"],
    ),
    Mistake(
        "the_mean_of_the_tokens",
        STEPS.but(log_probability=lambda log_probability, padding: log_probability / (~padding).sum(-1)),
        STEPS.but(log_probability=lambda of_real_tokens: of_real_tokens.mean(-1)),
        does="the mean over the tokens is taken, not the sum",
        says=(
            "This is the mean of the tokens. The probability of a sentence is a *product*, so that the logarithms are "
            "to be added up."
        ),
        hints=["Two tokens of probability 1/2: how likely are both together?"],
    ),
    Mistake(
        "divides_by_a_power_of_the_length",
        STEPS.but(log_probability=lambda log_probability, padding: log_probability / (~padding).sum(-1) ** 0.5),
        STEPS.but(
            log_probability=lambda log_probability, padding: log_probability / ((5 + (~padding).sum(-1)) / 6) ** 0.6
        ),
        does="the sum is divided by a function of the length",
        says="{does}, as beam search may do. Here the sum itself is asked for.",
        hints=["Two tokens of probability 1/2: how likely are both together?"],
    ),
    Mistake(
        "one_number_for_the_batch",
        STEPS.but(log_probability=lambda of_real_tokens: of_real_tokens.sum()),
        STEPS.but(log_probability=lambda of_real_tokens, padding: of_real_tokens.sum() / len(padding)),
        STEPS.but(log_probability=lambda of_real_tokens, padding: of_real_tokens.sum() / (~padding).sum()),
        STEPS.but(log_probability=lambda of_real_tokens: of_real_tokens.mean()).attempt,
        does="there is one number for all sentences together",
        says="{does}. One for each is asked for.",
        hints=["What shape is asked for?"],
    ),
    Mistake(
        "one_number_for_each_position",
        STEPS.but(position_axis=lambda: 0),
        does="the sum runs over the sentences, not over the positions",
    ),
    Mistake(
        "one_number_for_each_token",
        STEPS.but(log_probability=lambda of_real_tokens: of_real_tokens),
        does="the tokens are not put together",
    ),
    Mistake(
        "one_number_for_each_real_token",
        STEPS.but(log_probability=lambda of_real_tokens, padding: of_real_tokens[~padding]),
        does="the real tokens of all sentences are in one row, and not put together",
        says="There is a number for each real token, all sentences in one row. There should be one for each sentence.",
        hints=["What shape is asked for?"],
    ),
    Mistake(
        "only_the_last_token",
        STEPS.but(log_probability=lambda of_real_tokens: of_real_tokens[:, -1]),
        STEPS.but(
            log_probability=lambda of_tokens, padding: of_tokens.gather(1, (~padding).sum(1, keepdim=True) - 1).squeeze(
                1
            )
        ),
        does="only the last token of each sentence counts",
        says="Only the last token counts. The probability of a sentence is the product of those of *all* its tokens.",
        hints=["Two tokens of probability 1/2: how likely are both together?"],
    ),
    Mistake(
        "multiplies_logarithms",
        STEPS.but(filling=lambda: 1.0, log_probability=lambda of_real_tokens: of_real_tokens.prod(dim=-1)),
        STEPS.but(log_probability=lambda of_real_tokens: of_real_tokens.prod(dim=-1)),
        does="the numbers of the tokens are multiplied",
        says="The log-probabilities are multiplied. Probabilities multiply; their logarithms add up.",
        hints=["Two tokens of probability 1/2: how likely are both together, and what is the logarithm of that?"],
    ),
    Mistake(
        "the_loss",
        STEPS.but(of_tokens=lambda of_tokens: -of_tokens),
        does="the sign is turned round",
    ),
    Mistake(
        "the_log_of_a_product",
        STEPS.but(
            log_probabilities=lambda logits: logits.softmax(-1),
            filling=lambda: 1.0,
            log_probability=lambda of_real_tokens: of_real_tokens.prod(dim=-1).log(),
        ),
        does="the logarithm is taken of a product of probabilities, which becomes 0 for long sentences",
        says=(
            "The probabilities are multiplied first, and the logarithm comes last. For a long sentence the product is "
            "too small for a float: it becomes 0, and its logarithm −∞."
        ),
        hints=["What is 0.1 to the power of 50 in float32?"],
    ),
    Mistake(
        "the_log_of_a_sum",
        STEPS.but(
            log_probabilities=lambda logits: logits.softmax(-1),
            log_probability=lambda log_probability: log_probability.log(),
        ),
        does="the probabilities of the tokens are added up, and the logarithm is taken of the sum",
        says="The probabilities are added up, and then comes the logarithm. They multiply; their logarithms add up.",
        hints=["Two tokens of probability 1/2: how likely are both together?"],
    ),
    Mistake(
        "padding_multiplies_by_zero",
        STEPS.but(
            log_probabilities=lambda logits: logits.softmax(-1),
            log_probability=lambda of_real_tokens: of_real_tokens.prod(dim=-1).log(),
        ),
        does="the probabilities are multiplied, and padding puts a 0 into the product",
        says="A product is taken in which padding is 0, so that every padded sentence has the probability 0.",
        hints=["What is 1/2 · 1/2 · 0?"],
    ),
    Mistake(
        "the_likeliest_tokens",
        STEPS.but(of_tokens=lambda log_probabilities: log_probabilities.amax(-1)),
        does="the likeliest token is taken at each position, not the target",
        says=(
            "At each position the *best* token is taken, and not the one that stands in the targets: any sentence gets "
            "the same."
        ),
        hints=["What part do the targets play, other than to say what is padding?"],
    ),
    Mistake(
        "all_tokens_of_the_vocabulary",
        STEPS.but(of_tokens=lambda log_probabilities: log_probabilities.mean(-1)),
        STEPS.but(of_tokens=lambda log_probabilities: log_probabilities.sum(-1)),
        does="all tokens of the vocabulary are put together at each position",
        says="At each position *all* tokens of the vocabulary are put together. Only that of the target should count.",
        hints=["What part do the targets play, other than to say what is padding?"],
    ),
    Mistake(
        "smooths_the_targets",
        STEPS.but(
            of_tokens=lambda log_probabilities, of_tokens: 0.9 * of_tokens + 0.1 * log_probabilities.mean(dim=-1)
        ),
        does="the targets are smoothed, as in the loss",
        says="The targets are smoothed, as in training. How likely a sentence is depends on its own tokens alone.",
        hints=["For a single token of probability 1/2, what should come out?"],
    ),
    Mistake(
        "classes_on_the_wrong_axis",
        classes_on_the_wrong_axis,
        says=(
            "torch's `cross_entropy` takes the second axis for the vocabulary, and here that is the position. It "
            "crashes, or, where the two happen to fit, compares the wrong numbers."
        ),
        hints=[
            "In which order does `nn.functional.cross_entropy` want the axes? Its help says (N, C) or (N, C, d1).",
            "Either all tokens in one long list, or the vocabulary as the second axis.",
            "`logits.transpose(1, 2)`.",
        ],
    ),
    Mistake(
        "stacks_rows_of_different_lengths",
        STEPS.but(
            log_probability=lambda of_tokens, padding: torch.stack(
                [row[~hidden] for row, hidden in zip(of_tokens, padding, strict=True)]
            ).sum(-1)
        ).attempt,
        says="The real tokens of several sentences are stacked. Sentences have different lengths, so it crashes.",
        hints=[
            "How many real tokens has each sentence?",
            "Either add up each row before stacking, or keep the table, with 0 for padding.",
            "`.masked_fill(targets == pad_id, 0.0).sum(dim=-1)`.",
        ],
    ),
    Mistake(
        "an_axis_too_many",
        STEPS.but(of_tokens=lambda log_probabilities, targets: log_probabilities.gather(-1, targets.unsqueeze(-1))),
        STEPS.but(
            of_tokens=lambda log_probabilities, targets: log_probabilities.gather(-1, targets.unsqueeze(-1)),
            of_real_tokens=lambda of_tokens, padding: of_tokens * ~padding,
        ),
        does="what `gather` returns keeps its last axis, of length 1",
    ),
    Mistake(
        "leaves_a_token_out",
        STEPS.but(logits=lambda logits: logits[:, 1:], targets=lambda targets: targets[:, 1:]),
        STEPS.but(logits=lambda logits: logits[:, :-1], targets=lambda targets: targets[:, :-1]),
        does="the first or the last position of each sentence is left out",
        says="One position of each sentence is left out, the first or the last. All targets belong to the sentence.",
        hints=["How many tokens does a sentence have here, and how many should it have?"],
    ),
    Mistake(
        "without_the_gradient",
        STEPS.but(log_probability=lambda log_probability: log_probability.detach()).attempt,
        says="The numbers are right, but they are cut off from the logits: no gradient gets back to the model.",
        hints=[
            "What does `.backward()` need? A model can be trained by such numbers, too.",
            "`.item()`, `.tolist()`, `.detach()` and `torch.no_grad()` end the path that gradients take.",
            "Leave them out, and compute with the tensors themselves.",
        ],
    ),
    *of_the_result(
        STEPS,
        "result_with_another_sign",
        "result_transposed",
        "function_of_the_result",
    ),
    *of_the_pick(
        STEPS,
        "of_tokens",
        "log_probabilities",
        STEPS.but(of_tokens=lambda log_probabilities, targets: log_probabilities[..., targets]),
        STEPS.but(of_tokens=lambda log_probabilities, targets: log_probabilities[targets]).attempt,
        STEPS.but(
            of_tokens=lambda log_probabilities, targets: log_probabilities[:, torch.arange(targets.shape[1]), targets]
        ).attempt,
        STEPS.but(
            of_tokens=lambda log_probabilities, targets: log_probabilities[
                torch.arange(len(targets)), torch.arange(targets.shape[1]), targets
            ]
        ),
    ),
    another_base(STEPS, "of_tokens"),
    *of_given_targets(STEPS, of_real_tokens=lambda of_tokens, padding: of_tokens * ~padding),
]
