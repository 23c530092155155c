"""What goes wrong when an answer is compared with those that are right."""

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_14_post_training.exact_reward.answer import STEPS

MISTAKES = [
    Mistake(
        "all_forms_at_once",
        STEPS.but(right=lambda whole: whole.all(dim=-1)),
        does="an answer has to have all accepted forms at once",
        says="{does}, and no answer can. One of them is enough.",
        hints=["A date is written with dashes. Is it written with slashes, too?"],
    ),
    Mistake(
        "one_token_is_enough",
        STEPS.but(whole=lambda same: same.any(dim=-1)),
        does="one token in common with an accepted form is enough",
        says="{does}. A date with one right digit is a wrong date.",
        hints=["How many tokens of a right answer may differ from the form?"],
    ),
    Mistake(
        "takes_tokens_from_several_forms",
        STEPS.but(whole=lambda same: same.any(dim=1), right=lambda whole: whole.all(dim=-1)),
        does="each token may come from another of the accepted forms",
        says="{does}: an answer that begins as one and ends as the other passes. Ask for each form as a whole first.",
        hints=["Which question comes first: *all* tokens of a form, or *any* of the forms?"],
    ),
    Mistake(
        "fraction_of_right_tokens",
        STEPS.but(rewards=lambda same: same.float().mean(dim=-1).amax(dim=-1)),
        does="the reward is the fraction of tokens that are right",
        says="{does}. A date that is nearly right is a wrong date: its reward is 0.",
        hints=["Which two numbers can be rewards here?"],
    ),
    Mistake(
        "counts_the_forms",
        STEPS.but(rewards=lambda whole: whole.float().sum(dim=-1)),
        STEPS.but(rewards=lambda whole: whole.float().mean(dim=-1)),
        does="the forms that an answer has are counted, or averaged",
        says="{does}. Whether one of them is enough or the only one, a right answer gets 1.",
        hints=["If the same form is listed twice, what should a right answer get?"],
    ),
    Mistake(
        "only_the_first_form",
        STEPS.but(right=lambda whole: whole[:, 0]),
        STEPS.but(right=lambda whole: whole[:, -1]),
        does="only one of the accepted forms counts",
    ),
    Mistake(
        "some_forms_left_out",
        STEPS.but(right=lambda whole: whole[:, :2].any(dim=-1)),
        STEPS.but(right=lambda whole: whole[:, 0] | whole[:, -1]),
        STEPS.but(right=lambda whole: whole[:, :-1].any(dim=-1)),
        STEPS.but(right=lambda whole: whole[:, 1:].any(dim=-1)),
        does="some of the accepted forms do not count",
        says="{does}: an answer that is one of these gets 0. Look at which forms it is compared with.",
        hints=["With 4 accepted forms, with how many of them is an answer compared?"],
    ),
    Mistake(
        "in_any_order",
        STEPS.but(same=lambda answers, accepted: answers.sort(-1).values[:, None] == accepted.sort(-1).values),
        does="tokens count as the same whatever their order",
        says="{does}: an answer with the right tokens at the wrong places passes. 21 March is not 12 March.",
        hints=["Is `2012` the same year as `2021`?"],
    ),
    Mistake(
        "forms_of_all_prompts",
        STEPS.but(same=lambda beside, accepted: beside == accepted.flatten(0, 1)),
        does="an answer counts if it is right for any prompt of the batch",
        says="{does}. Row i of `accepted` has the answers to prompt i, and only these are right for it.",
    ),
    Mistake(
        "without_the_last_token",
        STEPS.but(same=lambda same: same[..., :-1]),
        does="the last token is not compared",
        says="{does}. An answer that goes on where the right one has ended is a wrong one.",
    ),
]
