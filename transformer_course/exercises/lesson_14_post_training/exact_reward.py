"""A verifiable reward: 1 if the answer is correct, otherwise 0."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared.draw_cases import generator
from transformer_course.running.case import Case
from transformer_course.steps import InSteps
from transformer_lab.data.tokenizers import EOS_ID, PAD_ID


def exact_reward(answers: Int[Tensor, "batch n"], accepted: Int[Tensor, "batch n_forms n"]) -> Float[Tensor, " batch"]:
    """Return 1 for each answer that exactly matches an accepted form, and 0 for every other answer."""
    same = answers[:, None] == accepted  # (batch, n_forms, n)
    return same.all(dim=-1).any(dim=-1).float()


def beside(answers):
    """add a dimension for the accepted forms → the answers with a forms dimension, (batch, 1, n)"""
    return answers[:, None]


def same(beside, accepted):
    """compare the tokens with every accepted form → the matching tokens, (batch, n_forms, n)"""
    return beside == accepted


def whole(same):
    """check whether all tokens of a form match → the matching forms, (batch, n_forms)"""
    return same.all(dim=-1)


def right(whole):
    """check whether any form matches → the mask of correct answers, (batch,)"""
    return whole.any(dim=-1)


def rewards(right):
    """convert True and False to 1 and 0 → the rewards: 1 if correct, 0 if wrong, (batch,)"""
    return right.float()


STEPS = InSteps(beside, same, whole, right, rewards, reference=exact_reward)


def exact_reward_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(n, n_forms, kinds, shows, *, n_letters=5, repeated=False):
        """Draw accepted answers of different lengths, with end tokens and padding, and one answer of each kind."""
        accepted = torch.full((len(kinds), n_forms, n), PAD_ID)
        for forms in accepted:
            for i, form in enumerate(forms):
                length = n - 1 - int(torch.randint(n // 3 + 1, (), generator=rng))
                form[:length] = EOS_ID + 1 + torch.randint(n_letters, (length,), generator=rng)
                form[0] = EOS_ID + 1 + i  # so that no form contains another form
                form[length] = EOS_ID
            if repeated:
                forms[-1] = forms[0]
        answers = torch.stack([answer(kind, forms) for kind, forms in zip(kinds, accepted, strict=True)])
        return Case({"answers": answers, "accepted": accepted}, shows)

    def drawn(n):
        """Draw kinds of answers, half of them correct."""
        kinds = ["wrong", "cut off", "mixed", "too long", "first", "last", "first", "last"]
        return [kinds[i] for i in torch.randint(len(kinds), (n,), generator=rng).tolist()]

    def answer(kind, forms):
        """Return the first, second or last form, or a corrupted form."""
        right = forms[{"second": 1, "last": -1}.get(kind, 0)].clone()
        end = int((right == EOS_ID).nonzero())
        match kind:
            case "wrong":
                right[int(torch.randint(end, (), generator=rng))] += 7
            case "cut off":
                right[end - 1], right[end] = EOS_ID, PAD_ID
            case "too long":
                right[end], right[end + 1 : end + 2] = EOS_ID + 2, EOS_ID
            case "empty":
                right[:] = PAD_ID
                right[0] = EOS_ID
            case "mixed":
                right[1:] = forms[-1][1:]
        return right

    cases = [
        case(3, 1, ["first"], "one right answer, one accepted form"),
        case(4, 1, ["wrong"], "an answer with a wrong token"),
        case(4, 2, ["last", "first"], "2 accepted forms, and an answer in each"),
        case(5, 2, ["wrong", "first", "cut off"], "three answers, one of which is right"),
        case(
            6, 3, ["mixed", "last", "first", "wrong"], "3 forms, and an answer that begins as one and ends as another"
        ),
        case(5, 2, ["too long", "first", "empty"], "an answer that goes on too long, and an empty one"),
        case(5, 3, ["second", "wrong"], "3 forms, and an answer that is neither the first nor the last"),
        case(4, 2, ["first", "wrong"], "the same form twice", repeated=True),
        case(11, 4, drawn(29), "29 answers, 4 forms"),
    ]
    another_prompts = case(6, 2, ["first", "wrong", "last"], "an answer that is right for another prompt")
    another_prompts.inputs["accepted"][0, -1] = another_prompts.inputs["answers"][1]
    reordered = case(6, 1, ["first", "first"], "an answer with the right tokens in another order")
    form = reordered.inputs["accepted"][0, 0]
    form[1] = form[0] + 1
    reordered.inputs["answers"][0] = torch.cat([form[:2].flip(0), form[2:]])
    endless = case(6, 2, ["first", "last"], "an answer that does not end")
    endless.inputs["accepted"][0, 0] = endless.inputs["answers"][0] = EOS_ID + 1
    endless.inputs["accepted"][0, 0, -1] = EOS_ID
    return [*cases[:-1], another_prompts, reordered, endless, cases[-1]]


MISTAKES = [
    Mistake(
        "takes_tokens_from_several_forms",
        STEPS.but(whole=lambda same: same.any(dim=1), right=lambda whole: whole.all(dim=-1)),
        summary="you let each token match a different form",
        message="{summary}, so you give reward 1 to an answer that begins like one form and ends like another.",
        hints=["Which should come first, *all* over the tokens or *any* over the forms?"],
    ),
    Mistake(
        "fraction_of_right_tokens",
        STEPS.but(rewards=lambda same: same.float().mean(dim=-1).amax(dim=-1)),
        summary="you return the fraction of matching tokens as the reward",
        message=(
            "{summary}. An answer with a single wrong token is wrong, so its reward should be 0. Over which dimension "
            "must all tokens match?"
        ),
        hints=["Which two values can a reward have here?"],
    ),
    Mistake(
        "counts_the_forms",
        STEPS.but(rewards=lambda whole: whole.float().sum(dim=-1)),
        summary="you count the forms that match",
        message="{summary}, so an answer gets 2 if its form is listed twice. Which reward should it get?",
        hints=["If the same form is listed twice, which reward should a right answer get?"],
    ),
    Mistake(
        "averages_the_forms",
        STEPS.but(rewards=lambda whole: whole.float().mean(dim=-1)),
        summary="you average over the accepted forms",
        message="{summary}, so a right answer gets 0.5 if there are two forms. How many forms must an answer match?",
        hints=["A date is written with dashes. Can it match a form with slashes as well?"],
    ),
    Mistake(
        "only_the_first_form",
        STEPS.but(right=lambda whole: whole[:, 0]),
        summary="your reward depends only on the first accepted form",
        message="{summary}, so a right answer in any other form gets 0. Which forms should you compare it with?",
        hints=["If an answer matches only the second form, which reward do you give?"],
    ),
    Mistake(
        "only_the_last_form",
        STEPS.but(right=lambda whole: whole[:, -1]),
        summary="your reward depends only on the last accepted form",
        message=(
            "{summary}, so a right answer in any other form gets 0. If you use a loop, can a later form overwrite an "
            "earlier match?"
        ),
        hints=["If an answer matches only the first form, which reward do you give?"],
    ),
    Mistake(
        "some_forms_left_out",
        STEPS.but(right=lambda whole: whole[:, :2].any(dim=-1)),
        STEPS.but(right=lambda whole: whole[:, 0] | whole[:, -1]),
        STEPS.but(right=lambda whole: whole[:, :-1].any(dim=-1)),
        STEPS.but(right=lambda whole: whole[:, 1:].any(dim=-1)),
        summary="you leave out some of the accepted forms",
        message=(
            "{summary}, so an answer that matches only one of these forms gets 0. Which forms should you compare each "
            "answer with?"
        ),
        hints=["With 4 accepted forms, how many of them do you compare an answer with?"],
    ),
    Mistake(
        "in_any_order",
        STEPS.but(same=lambda answers, accepted: answers.sort(-1).values[:, None] == accepted.sort(-1).values),
        summary="you ignore the order of the tokens",
        message="{summary}, so 12 March passes for 21 March. Which tokens should you compare with each other?",
        hints=["Is `2012` the same year as `2021`, and which reward would you give?"],
    ),
    Mistake(
        "forms_of_all_prompts",
        STEPS.but(same=lambda beside, accepted: beside == accepted.flatten(0, 1)),
        summary="you accept an answer that is right for any prompt of the batch",
        message=(
            "{summary}, so the answer to another prompt gets 1. Which row of `accepted` has the right answers to "
            "prompt i?"
        ),
        hints=["If an answer matches no form of its own prompt, can it get 1?"],
    ),
    Mistake(
        "without_the_last_token",
        STEPS.but(same=lambda same: same[..., :-1]),
        summary="you don't compare the last token",
        message="{summary}, so an answer can pass even if it continues where the right answer ends.",
        hints=[
            "An answer differs from its form only in the last token. Which reward do you give it?",
        ],
    ),
]


EXERCISE = Exercise(
    reference=exact_reward,
    steps=STEPS,
    cases=exact_reward_cases,
    points=2,
    verified="You accept an answer only if it matches one of the forms from its first token to its last, end included.",
    hints=[
        "Compare one answer with one accepted form. What must hold for every token?",
        "An answer is right if *all* of its tokens match those of *any* form. Take `all` over the tokens first, then "
        "`any` over the forms.",
        "`answers[:, None] == accepted` compares all answers with all of their forms: (batch, n_forms, n).",
        "`.all(dim=-1)` over the tokens, `.any(dim=-1)` over the forms, and `.float()` for 1 and 0.",
    ],
    messages={
        "sibling_right": Wording(
            "{summary}, so a right answer gets 0 if there are two different forms. How many forms can one answer "
            "match?",
            summary="you require an answer to match all accepted forms at once",
            hints=["A date is written with dashes. Can it match a form with slashes as well?"],
        ),
        "sibling_whole": Wording(
            "{summary}, so a date with a single right digit gets 1. How many tokens should match?",
            summary="you accept an answer that has a single token in common with a form",
            hints=["How many tokens of a right answer may differ from its form?"],
        ),
    },
    mistakes=MISTAKES,
)
