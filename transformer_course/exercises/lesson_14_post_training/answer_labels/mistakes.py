"""What goes wrong when prompts are taken out of the labels."""

from torch.nn import functional as F

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_14_post_training.answer_labels.answer import STEPS

MISTAKES = [
    Mistake(
        "hides_the_answer",
        STEPS.but(in_prompt=lambda in_prompt: ~in_prompt),
        does="the answers become padding, and the prompts stay",
        says="{does}: such a model learns to ask, not to answer.",
        hints=["Which tokens should the loss count?"],
    ),
    Mistake(
        "hides_the_first_token_of_the_answer",
        STEPS.but(in_prompt=lambda positions, ends: positions <= ends),
        does="the first token of each answer becomes padding as well",
        says=("{does}. The model would never be taught how an answer begins, and everything after that hangs on it."),
        hints=["A prompt of 3 tokens stands at the positions 0, 1 and 2. Where does its answer begin?"],
    ),
    Mistake(
        "shifts_the_labels_already",
        STEPS.but(in_prompt=lambda positions, ends: positions < ends - 1),
        does="the last token of each prompt still counts",
        says=(
            "{does}. That the logits there predict the answer's first token is the business of the loss, which shifts "
            "by one: here, a label is the token that stands at its own position."
        ),
        hints=["Is the last token of the prompt part of the answer?"],
    ),
    Mistake(
        "one_length_for_all",
        STEPS.but(ends=lambda prompt_lengths: prompt_lengths[0]),
        STEPS.but(ends=lambda prompt_lengths: prompt_lengths.max()),
        STEPS.but(ends=lambda prompt_lengths: prompt_lengths.min()),
        does="all rows are cut at the length of one prompt",
        says="{does}. Prompts have different lengths, so each row has its own.",
        hints=["Compare two rows whose prompts have 2 and 5 tokens."],
    ),
    Mistake(
        "takes_the_prompts_away",
        STEPS.but(labels=lambda tokens, prompt_lengths: tokens[:, int(prompt_lengths.min()) :]).attempt,
        STEPS.but(labels=lambda tokens, prompt_lengths: tokens[:, int(prompt_lengths.max()) :]).attempt,
        STEPS.but(labels=lambda tokens, prompt_lengths: tokens[:, int(prompt_lengths[0]) :]).attempt,
        says=(
            "The prompts are cut off, so the labels are shorter than the logits. They should keep their shape: what "
            "does not count is padding."
        ),
        hints=[
            "What shape have the tokens, and what shape have your labels?",
            "The loss compares labels and logits position by position. Nothing may move.",
            "Keep the tokens, and replace those of the prompt with `pad_id`.",
        ],
    ),
    Mistake(
        "moved_to_the_left",
        STEPS.but(labels=lambda labels, pad_id: F.pad(labels[:, 1:], (0, 1), value=pad_id)),
        does="the labels are moved to the left by one",
        says="{does}. That is the business of the loss, which shifts them: here, a label stands at its own position.",
        hints=["If the loss moves the labels again, which token has the logits at position 0 to predict?"],
    ),
]
