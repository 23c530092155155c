"""The training loop: one step of Adam for each batch.

The attempt trains a model, so changes to its parameters are expected. They show in the losses of later batches.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from transformer_course.exercise import Exercise, Mistake
from transformer_course.exercises.shared.draw_cases import digits, generator, normal
from transformer_course.running.case import Case
from transformer_course.running.stand_in_models import describe_model
from transformer_course.steps import InSteps


def train_epoch(model: nn.Module, batches: list[tuple[Tensor, Tensor]], learning_rate: float) -> list[float]:
    """Train on each batch, a pair of names and months, in turn. Return the losses."""
    optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate)
    losses = []
    for names, months in batches:
        loss = F.cross_entropy(model(names), months)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def optimizer(model, learning_rate):
    """create an Adam optimizer for the model's parameters

    the optimizer: Adam, given the model's parameters and `learning_rate`
    """
    return torch.optim.Adam(model.parameters(), lr=learning_rate)


def logits(model):
    """call the model on the names → the logits of a batch: `model(names)`"""
    return lambda names: model(names)


def loss():
    """compute the cross-entropy of logits and months → the loss of a batch: `F.cross_entropy(logits, months)`"""
    return lambda logits, months: F.cross_entropy(logits, months)


def clear(optimizer):
    """set the old gradients to zero → the call of `zero_grad`: once for every batch, before `backward`"""
    return lambda: optimizer.zero_grad()


def backward():
    """compute the new gradients → the call of `backward`: once for every batch, before `step`"""
    return lambda loss: loss.backward()


def update(optimizer):
    """take a step → the call of `step`: once for every batch, after `backward`"""
    return lambda: optimizer.step()


def number():
    """convert the loss to a Python number → the loss as a Python number: `loss.item()`"""
    return lambda loss: loss.item()


def one_batch(logits, loss, clear, backward, update, number):
    """take one training step on a batch → the loss before a step: the loss on which you call `backward`"""

    def train_on(names, months):
        current = loss(logits(names), months)
        clear()
        backward(current)
        update()
        return number(current)

    return train_on


def losses(batches, one_batch):
    """train on each batch in turn → the list of losses: one for each batch, in order"""
    return [one_batch(names, months) for names, months in batches]


STEPS = InSteps(optimizer, logits, loss, clear, backward, update, number, one_batch, losses, reference=train_epoch)


def train_epoch_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(n_batches, batch, n, sizes, rate, shows, last=0, repeats=False):
        """Draw a model and batches of names with n characters; the last may be smaller, or all may be the same."""
        n_characters, d_model, n_months = sizes
        model = describe_model(
            "month_reader",
            embedding=normal(rng, n_characters, d_model),
            weight=normal(rng, n_months, d_model) / d_model**0.5,
            bias=normal(rng, n_months) / 2,
        )
        batch_sizes = [*[batch] * (n_batches - 1), last or batch]
        batches = [
            (torch.randint(n_characters, (size, n), generator=rng), torch.randint(n_months, (size,), generator=rng))
            for size in batch_sizes
        ]
        if repeats:
            batches = batches[:1] * n_batches
        return Case({"model": model, "batches": batches, "learning_rate": rate}, shows)

    (more,) = digits(seed, 3)
    return [
        case(2, 2, 3, (4, 2, 3), 0.1, "2 batches of 2 names"),
        case(1, 3, 2, (5, 3, 2), 0.1, "a single batch"),
        case(4 + more, 3, 3, (3, 3, 3), 0.2, f"{4 + more} batches of 3 names with 3 characters each"),
        case(5, 4, 3, (6, 5, 7), 0.03, "5 batches, with a learning rate of 0.03"),
        case(9, 5, 2, (7, 3, 4), 0.5, "9 batches, the last of which has only 2 names", last=2),
        case(30, 4, 5, (8, 4, 6), 0.05, "the same 4 names 30 times", repeats=True),
        case(12, 16, 9, (30, 8, 12), 0.1, "12 batches of 16 names with 9 characters each"),
    ]


def nothing():
    return lambda: None


def gradients_of_the_batch_before(logits, loss, clear, backward, update, number):
    def train_on(names, months):
        current = loss(logits(names), months)
        update()
        clear()
        backward(current)
        return number(current)

    return train_on


def loss_after_the_step(logits, loss, clear, backward, update, number):
    def train_on(names, months):
        clear()
        backward(loss(logits(names), months))
        update()
        return number(loss(logits(names), months))

    return train_on


def another_optimizer_for_each_batch(model, learning_rate, logits, loss, number):
    def train_on(names, months):
        optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate)
        current = loss(logits(names), months)
        optimizer.zero_grad()
        current.backward()
        optimizer.step()
        return number(current)

    return train_on


def by_hand(logits, loss, number, model, learning_rate):
    """Gradient descent as in the primer's section on gradients."""

    def train_on(names, months):
        current = loss(logits(names), months)
        for parameter, gradient in zip(
            model.parameters(), torch.autograd.grad(current, list(model.parameters())), strict=True
        ):
            parameter.data -= learning_rate * gradient
        return number(current)

    return train_on


def number_before_backward(logits, loss, number, backward):
    def train_on(names, months):
        current = number(loss(logits(names), months))
        backward(current)
        return current

    return train_on


def without_recording(logits, loss, backward):
    def train_on(names, months):
        with torch.no_grad():
            current = loss(logits(names), months)
        backward(current)
        return current.item()

    return train_on


MISTAKES = [
    Mistake(
        "old_gradients_kept",
        STEPS.but(clear=nothing),
        summary="you never set the gradients to zero between two batches",
        message="{summary}, and `backward` adds to what is there. So each step follows the gradients of all batches so "
        "far. Which call removes the old ones?",
        hints=[
            "After two batches, whose gradients are in `model.output.weight.grad`?",
            "Each step needs the gradients of its own batch, so remove the old ones before you compute the new ones.",
            "Call `optimizer.zero_grad()` in every round of the loop, before `loss.backward()`.",
        ],
    ),
    Mistake(
        "model_stays_the_same",
        STEPS.but(update=nothing),
        summary="the model is still untrained at the last batch",
        message="Your losses are those of the untrained model: it never changes between two batches. When `step` runs, "
        "what is in each parameter's `grad`? And does `step` run once for every batch?",
        hints=[
            "How much does `model.output.weight` change from the first batch to the second?",
            "A step uses the gradients that are in `grad` at that moment. `zero_grad` removes them, and `backward` "
            "puts new ones there.",
            "For every batch: `optimizer.zero_grad()`, then `loss.backward()`, then `optimizer.step()`.",
        ],
    ),
    Mistake(
        "step_before_backward",
        STEPS.but(one_batch=gradients_of_the_batch_before),
        summary="you take each step before you compute the new gradients",
        message="{summary}, so it follows the gradients of the *previous* batch, and the first step does nothing. "
        "Which of the two calls needs the result of the other?",
        hints=[
            "In the first batch, what is in `model.output.weight.grad` when `step` runs?",
            "`step` uses the gradients that `backward` computes.",
            "In each round: `optimizer.zero_grad()`, then `loss.backward()`, then `optimizer.step()`.",
        ],
    ),
    Mistake(
        "loss_after_the_step",
        STEPS.but(one_batch=loss_after_the_step),
        summary="you return the loss of each batch after the step",
        message="{summary}, when the model has already seen the right answers for this batch. Return the loss that "
        "you call `backward` on.",
        hints=[
            "Which model does your first loss belong to: the untrained one, or the one after a step?",
            "The loss before the step costs nothing: you have computed it anyway, for `backward`.",
            "Compute `loss` once in each round, and append `loss.item()`.",
        ],
    ),
    Mistake(
        "softmax_before_cross_entropy",
        STEPS.but(loss=lambda: lambda logits, months: F.cross_entropy(logits.softmax(dim=-1), months)),
        summary="you pass probabilities to `cross_entropy`",
        message="{summary}, which takes logits and computes the softmax itself. So it is computed twice, and the loss "
        "can't get near 0. What does the model return?",
        hints=[
            "If the probabilities 1 and 0 are treated as logits, what does the softmax turn them into?",
            "`F.cross_entropy` expects logits: the numbers that the model returns.",
            "`loss = F.cross_entropy(model(names), months)`.",
        ],
    ),
    Mistake(
        "another_optimizer_for_each_batch",
        STEPS.but(one_batch=another_optimizer_for_each_batch),
        summary="you create a new optimizer for each batch",
        message="{summary}. Adam averages the gradients of many steps, and a new optimizer starts with none. How "
        "often should your code create one?",
        hints=[
            "What does Adam remember from one step to the next, and when does your code throw it away?",
            "Adam keeps running averages of each gradient and of its square. They belong to the optimizer object.",
            "Create the optimizer once, before the loop.",
        ],
    ),
    Mistake(
        "another_kind_of_optimizer",
        STEPS.but(optimizer=lambda model, learning_rate: torch.optim.SGD(model.parameters(), lr=learning_rate)),
        STEPS.but(optimizer=lambda model, learning_rate: torch.optim.AdamW(model.parameters(), lr=learning_rate)),
        STEPS.but(
            optimizer=lambda model, learning_rate: torch.optim.SGD(model.parameters(), lr=learning_rate, momentum=0.9)
        ),
        STEPS.but(one_batch=by_hand),
        summary="you use an optimizer other than Adam",
        message="Your loop is right, but its steps are not those of Adam. Which optimizer does this notebook use?",
        hints=["Which class of `torch.optim` do you use, or do you change the parameters yourself?"],
    ),
    Mistake(
        "default_learning_rate",
        STEPS.but(optimizer=lambda model: torch.optim.Adam(model.parameters())),
        summary="you don't pass `learning_rate` to the optimizer",
        message="{summary}, so Adam uses its default, 0.001. Which argument of `Adam` sets it?",
        hints=["How large are your steps if `learning_rate` is 0.1? And if it is 0.001?"],
    ),
    Mistake(
        "part_of_the_losses",
        STEPS.but(losses=lambda losses: losses[-1]),
        STEPS.but(losses=lambda losses: sum(losses) / len(losses)),
        STEPS.but(losses=lambda losses: sum(losses)),
        summary="you return one number for all batches",
        message="{summary}. Return a list with the loss of each batch, in order.",
        hints=["With 5 batches, how many losses should you return?"],
    ),
    Mistake(
        "returns_inside_the_loop",
        STEPS.but(losses=lambda losses: losses[:1]),
        summary="you return after the first batch",
        message="{summary}, so the other batches are never used. How far is `return` indented?",
        hints=[
            "With 5 batches, how many losses do you return?",
            "A `return` inside a loop ends the whole function.",
            "Indent `return losses` as far as the `for` above it.",
        ],
    ),
    Mistake(
        "sum_over_the_batch",
        STEPS.but(loss=lambda: lambda logits, months: F.cross_entropy(logits, months, reduction="sum")),
        summary="you add up the losses of the names instead of averaging them",
        message="{summary}, so a batch of 16 names gets about twice the loss of one with 8. What does `cross_entropy` "
        "return without `reduction`?",
        hints=[
            "Should your loss double if each name is in the batch twice?",
            "The loss of a batch is the mean over its names, which is the default of `cross_entropy`.",
            "`loss = F.cross_entropy(model(names), months)`.",
        ],
    ),
    Mistake(
        "targets_first",
        STEPS.but(loss=lambda: lambda logits, months: F.cross_entropy(months, logits)),
        summary="you pass the months to `cross_entropy` before the logits",
        message="{summary}. It expects the model's answers first and the right answers second.",
        hints=[
            "Which argument of `F.cross_entropy` is called `target`?",
            "First the logits, (batch, 12), then the months, (batch).",
            "`loss = F.cross_entropy(model(names), months)`.",
        ],
    ),
    Mistake(
        "number_before_backward",
        STEPS.but(one_batch=number_before_backward),
        summary="you turn the loss into a Python number before `backward`",
        message="{summary}. A Python number doesn't remember how it was computed, so it has no `backward`. When do you "
        "no longer need the tensor?",
        hints=[
            "What does `loss.item()` return, and what is it good for?",
            "`backward` needs the tensor. The list that you return needs only its number.",
            "Call `loss.backward()` on the tensor, and append `loss.item()` afterwards.",
        ],
    ),
    Mistake(
        "nothing_recorded",
        STEPS.but(one_batch=without_recording),
        STEPS.but(backward=lambda: lambda loss: loss.detach().backward()),
        STEPS.but(logits=lambda model: lambda names: model(names).detach()),
        summary="the loss doesn't remember how it was computed",
        message="{summary}, so `backward` has nothing to go back through. `no_grad` and `detach` are for measurements. "
        "Where do you use one of them?",
        hints=[
            "What is `loss.grad_fn`? It should not be None.",
            "PyTorch records a calculation unless it is inside `no_grad`, and `detach` drops the record.",
            "`loss = F.cross_entropy(model(names), months)`, outside of `no_grad`, then `loss.backward()`.",
        ],
    ),
    Mistake(
        "backward_twice",
        STEPS.but(backward=lambda: lambda loss: (loss.backward(), loss.backward())),
        summary="you call `backward` twice on the same loss",
        message="{summary}, but torch frees the recorded steps after the first call. How many calls does one step "
        "need?",
        hints=[
            "What would the second call add to the gradients?",
            "One call of `backward` computes the gradients of all parameters.",
            "In each round, call `loss.backward()` once, between `zero_grad` and `step`.",
        ],
    ),
]

EXERCISE = Exercise(
    reference=train_epoch,
    steps=STEPS,
    cases=train_epoch_cases,
    points=2,
    may_cut_gradients=True,
    verified="Your loop trains the model: each step follows the gradients of its own batch, and nothing else.",
    hints=[
        "Which four lines does each step need, and in which order? Which line runs only once, before the loop?",
        "For each batch: compute the loss, set the old gradients to zero, compute the new ones, take a step. Create "
        "the optimizer before the loop, and collect the losses as Python numbers.",
        "The four lines are `loss = F.cross_entropy(model(names), months)`, `optimizer.zero_grad()`, "
        "`loss.backward()` and `optimizer.step()`.",
        "Begin with `optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate)` and `losses = []`, loop with "
        "`for names, months in batches:`, and end each round with `losses.append(loss.item())`.",
    ],
    mistakes=MISTAKES,
)
