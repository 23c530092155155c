"""A reward that can be checked: 1 if the answer is right, and 0 if it is not."""

import torch

from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_14_post_training.exact_reward.answer import STEPS, exact_reward
from transformer_course.exercises.lesson_14_post_training.exact_reward.mistakes import MISTAKES
from transformer_course.exercises.shared.draw_cases import generator
from transformer_course.running.case import Case
from transformer_lab.data.tokenizers import EOS_ID, PAD_ID


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


EXACT_REWARD = Exercise(
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
    mistakes=MISTAKES,
)
