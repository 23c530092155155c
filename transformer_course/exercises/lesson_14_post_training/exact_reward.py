"""A reward that can be checked: 1 if the answer is right, and 0 if it is not."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared.draw_cases import generator
from transformer_course.running.case import Case
from transformer_course.steps import InSteps
from transformer_lab.data.tokenizers import EOS_ID, PAD_ID


def exact_reward(answers: Int[Tensor, "batch n"], accepted: Int[Tensor, "batch n_forms n"]) -> Float[Tensor, " batch"]:
    """Return 1 for each answer that is one of the accepted ones from its first token to its last, and 0 for others."""
    same = answers[:, None] == accepted  # (batch, n_forms, n)
    return same.all(dim=-1).any(dim=-1).float()


def beside(answers):
    """give the answers an axis for the accepted forms → the answers with an axis for the forms, (batch, 1, n)"""
    return answers[:, None]


def same(beside, accepted):
    """compare the tokens with every accepted form → the matches of tokens and forms, (batch, n_forms, n)"""
    return beside == accepted


def whole(same):
    """ask whether all tokens of a form are the same → which forms an answer has from end to end, (batch, n_forms)"""
    return same.all(dim=-1)


def right(whole):
    """ask whether any form is → which answers are right, (batch,)"""
    return whole.any(dim=-1)


def rewards(right):
    """make numbers of it → the rewards: 1 for right and 0 for wrong, (batch,)"""
    return right.float()


STEPS = InSteps(beside, same, whole, right, rewards, reference=exact_reward)


def exact_reward_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(n, n_forms, kinds, shows, *, n_letters=5, repeated=False):
        """Draw accepted answers of different lengths, each ended and padded, and for each kind an answer."""
        accepted = torch.full((len(kinds), n_forms, n), PAD_ID)
        for forms in accepted:
            for i, form in enumerate(forms):
                length = n - 1 - int(torch.randint(n // 3 + 1, (), generator=rng))
                form[:length] = EOS_ID + 1 + torch.randint(n_letters, (length,), generator=rng)
                form[0] = EOS_ID + 1 + i  # so that no form is another's
                form[length] = EOS_ID
            if repeated:
                forms[-1] = forms[0]
        answers = torch.stack([answer(kind, forms) for kind, forms in zip(kinds, accepted, strict=True)])
        return Case({"answers": answers, "accepted": accepted}, shows)

    def drawn(n):
        """Draw kinds of answers, half of them right."""
        kinds = ["wrong", "cut off", "mixed", "too long", "first", "last", "first", "last"]
        return [kinds[i] for i in torch.randint(len(kinds), (n,), generator=rng).tolist()]

    def answer(kind, forms):
        """Return the first form, the second or the last, or spoil it."""
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
        case(5, 2, ["wrong", "first", "cut off"], "three answers, of which one is right"),
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
        summary="each token may come from another of the accepted forms",
        message=(
            "{summary}: an answer that begins as one and ends as the other passes. Ask for each form as a whole first."
        ),
        hints=["Which question comes first: *all* tokens of a form, or *any* of the forms?"],
    ),
    Mistake(
        "fraction_of_right_tokens",
        STEPS.but(rewards=lambda same: same.float().mean(dim=-1).amax(dim=-1)),
        summary="the reward is the fraction of tokens that are right",
        message="{summary}. A date that is nearly right is a wrong date: its reward is 0.",
        hints=["Which two numbers can be rewards here?"],
    ),
    Mistake(
        "counts_the_forms",
        STEPS.but(rewards=lambda whole: whole.float().sum(dim=-1)),
        STEPS.but(rewards=lambda whole: whole.float().mean(dim=-1)),
        summary="the forms that an answer has are counted, or averaged",
        message="{summary}. Whether one of them is enough or the only one, a right answer gets 1.",
        hints=["If the same form is listed twice, what should a right answer get?"],
    ),
    Mistake(
        "only_the_first_form",
        STEPS.but(right=lambda whole: whole[:, 0]),
        STEPS.but(right=lambda whole: whole[:, -1]),
        summary="only one of the accepted forms counts",
    ),
    Mistake(
        "some_forms_left_out",
        STEPS.but(right=lambda whole: whole[:, :2].any(dim=-1)),
        STEPS.but(right=lambda whole: whole[:, 0] | whole[:, -1]),
        STEPS.but(right=lambda whole: whole[:, :-1].any(dim=-1)),
        STEPS.but(right=lambda whole: whole[:, 1:].any(dim=-1)),
        summary="some of the accepted forms do not count",
        message="{summary}: an answer that is one of these gets 0. Look at which forms it is compared with.",
        hints=["With 4 accepted forms, with how many of them is an answer compared?"],
    ),
    Mistake(
        "in_any_order",
        STEPS.but(same=lambda answers, accepted: answers.sort(-1).values[:, None] == accepted.sort(-1).values),
        summary="tokens count as the same whatever their order",
        message="{summary}: an answer with the right tokens at the wrong places passes. 21 March is not 12 March.",
        hints=["Is `2012` the same year as `2021`?"],
    ),
    Mistake(
        "forms_of_all_prompts",
        STEPS.but(same=lambda beside, accepted: beside == accepted.flatten(0, 1)),
        summary="an answer counts if it is right for any prompt of the batch",
        message="{summary}. Row i of `accepted` has the answers to prompt i, and only these are right for it.",
    ),
    Mistake(
        "without_the_last_token",
        STEPS.but(same=lambda same: same[..., :-1]),
        summary="the last token is not compared",
        message="{summary}. An answer that goes on where the right one has ended is a wrong one.",
    ),
]


EXERCISE = Exercise(
    reference=exact_reward,
    steps=STEPS,
    cases=exact_reward_cases,
    points=2,
    verified="An answer counts if it is one of the accepted ones from its first token to its last, end included.",
    hints=[
        "Compare an answer with one accepted form: what has to hold for every token?",
        "For all answers and forms at once, give the answers an axis: `answers[:, None] == accepted`.",
        "First `all` over the tokens, then `any` over the forms; `.float()` makes 1 and 0 of it.",
    ],
    messages={
        "sibling_right": Wording(
            "{summary}, and no answer can. One of them is enough.",
            summary="an answer has to have all accepted forms at once",
            hints=["A date is written with dashes. Is it written with slashes, too?"],
        ),
        "sibling_whole": Wording(
            "{summary}. A date with one right digit is a wrong date.",
            summary="one token in common with an accepted form is enough",
            hints=["How many tokens of a right answer may differ from the form?"],
        ),
    },
    mistakes=MISTAKES,
)
