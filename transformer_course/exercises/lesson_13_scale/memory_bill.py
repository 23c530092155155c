"""The memory used by a training step."""

import torch

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared.draw_cases import generator
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def memory_bill(
    n_parameters: int, n_layers: int, d_model: int, n_kept: float, n_tokens: int, n_workers: int, checkpointing: bool
) -> dict[str, float]:
    """Return one worker's memory in bytes: parameters, gradients, optimizer state and activations in float32."""
    share = 4 * n_parameters / n_workers
    per_token = n_layers * d_model + n_kept if checkpointing else n_layers * n_kept
    return {"parameters": share, "gradients": share, "optimizer": 2 * share, "activations": 4 * n_tokens * per_token}


def size():
    """use 4 bytes for each number → the bytes per number: 4 in float32"""
    return 4


def share(n_parameters, n_workers, size):
    """divide the parameters among the workers → the bytes of a worker's parameters"""
    return size * n_parameters / n_workers


def optimizer(share):
    """count Adam's two running means for each parameter → the bytes of the optimizer state: 2 numbers per parameter"""
    return 2 * share


def per_token(n_layers, d_model, n_kept, checkpointing):
    """count the activations of one token → the activations per token: of all layers, or with checkpointing the inputs
    of all layers and the activations of one layer
    """
    return n_layers * d_model + n_kept if checkpointing else n_layers * n_kept


def activations(per_token, n_tokens, size):
    """multiply by the number of tokens → the bytes of the activations"""
    return per_token * n_tokens * size


def bill(share, optimizer, activations):
    """return the four lines by name → the bill: four lines, with as many bytes for gradients as for parameters"""
    return {"parameters": share, "gradients": share, "optimizer": optimizer, "activations": activations}


STEPS = InSteps(size, share, optimizer, per_token, activations, bill, reference=memory_bill)


def memory_bill_cases(seed: int) -> list[Case]:
    n, n_layers, d_model, n_tokens = (2 * torch.randint(10, 90, (4,), generator=generator(seed)) + 1).tolist()
    rows = [
        (22, 1, 5, 41.0, 7, 1, False, "one layer"),
        (1100, 3, 5, 41.0, 7, 1, False, "3 layers"),
        (1100, 3, 5, 41.0, 7, 1, True, "3 layers with checkpointing"),
        (1100, 3, 5, 41.0, 7, 8, False, "8 workers"),
        (n, n_layers, d_model, 10.5 * d_model, n_tokens, 4, True, "4 workers and other sizes, with checkpointing"),
    ]
    return [Case(dict(zip(STEPS.arguments.parameters, row, strict=False)), row[-1]) for row in rows]


def per_token_with_checkpointing(count):
    """Return the step that counts the activations of one token differently with checkpointing."""
    return lambda per_token, n_layers, d_model, n_kept, checkpointing: (
        count(n_layers, d_model, n_kept) if checkpointing else per_token
    )


def per_token_without_checkpointing(count):
    """Return the step that counts the activations of one token differently without checkpointing."""
    return lambda per_token, n_layers, d_model, n_kept, checkpointing: (
        per_token if checkpointing else count(n_layers, d_model, n_kept)
    )


def in_larger_units(unit):
    return lambda bill: {line: n_bytes / unit for line, n_bytes in bill.items()}


WITH_CHECKPOINTING = (
    "A model has 3 layers, `d_model` is 5 and `n_kept` is 41. With checkpointing, which numbers of a token are in "
    "memory while the backward pass recomputes the last layer?"
)
WITHOUT_CHECKPOINTING = (
    "A model has 3 layers, and `n_kept` is 41. Without checkpointing, how many numbers does a token keep?"
)
OF_8_WORKERS = (
    "With 1,100 parameters and 8 workers, how many numbers does one worker keep on each of the first three lines?"
)


MISTAKES = [
    Mistake(
        "divides_activations",
        STEPS.but(activations=lambda activations, n_workers: activations / n_workers),
        summary="you divide the activation memory by the number of workers",
        message=(
            "{summary}, but `n_tokens` already counts only one worker's tokens, so you divide twice. Which worker "
            "stores the activations for its own tokens?"
        ),
        hints=["Worker 0 reads 7 tokens. Which worker keeps the activations of these tokens?"],
    ),
    Mistake(
        "activations_of_all_workers",
        STEPS.but(activations=lambda activations, n_workers: activations * n_workers),
        summary="you count the activations of all workers instead of one",
        message=(
            "{summary}, so with 8 workers the activation memory is 8 times too large. Whose tokens does `n_tokens` "
            "count?"
        ),
        hints=["Worker 0 reads 7 tokens. Which worker keeps the activations of these tokens?"],
    ),
    Mistake(
        "computes_all_again",
        STEPS.but(
            per_token=lambda n_layers, d_model, n_kept, checkpointing: n_layers * (n_kept + checkpointing * d_model)
        ),
        summary="with checkpointing, you keep every layer's input *and* its `n_kept` numbers",
        message=(
            "{summary}, which is more than without checkpointing. How many layers need their `n_kept` numbers at the "
            "same time?"
        ),
        hints=[WITH_CHECKPOINTING],
    ),
    Mistake(
        "input_of_one_layer",
        STEPS.but(per_token=per_token_with_checkpointing(lambda n_layers, d_model, n_kept: d_model + n_kept)),
        summary="with checkpointing, you keep the input of only one layer",
        message=(
            "{summary}. The backward pass recomputes every layer from its input. With 3 layers, how many inputs are in "
            "memory?"
        ),
        hints=[WITH_CHECKPOINTING],
    ),
    Mistake(
        "no_inputs",
        STEPS.but(per_token=per_token_with_checkpointing(lambda n_layers, d_model, n_kept: n_kept)),
        summary="with checkpointing, you leave out the inputs of the layers",
        message=(
            "{summary}, so the backward pass can't recompute any layer. How many layers' inputs must stay in memory?"
        ),
        hints=[WITH_CHECKPOINTING],
    ),
    Mistake(
        "one_input_too_few",
        STEPS.but(
            per_token=per_token_with_checkpointing(lambda n_layers, d_model, n_kept: (n_layers - 1) * d_model + n_kept)
        ),
        summary="with checkpointing, you keep the inputs of only n_layers − 1 layers",
        message=(
            "{summary}: with 3 layers and `d_model` 5, you count 10 numbers instead of 15. Which layer could the "
            "backward pass recompute without its input?"
        ),
        hints=[WITH_CHECKPOINTING],
    ),
    Mistake(
        "square_root_of_the_layers",
        STEPS.but(
            per_token=per_token_with_checkpointing(lambda n_layers, d_model, n_kept: n_layers**0.5 * d_model + n_kept)
        ),
        summary="with checkpointing, you keep the inputs of only √n_layers layers",
        message="{summary}. Some libraries place their checkpoints that way, but here *every* layer keeps its input.",
        hints=[WITH_CHECKPOINTING],
    ),
    Mistake(
        "larger_of_the_two",
        STEPS.but(
            per_token=per_token_with_checkpointing(lambda n_layers, d_model, n_kept: max(n_layers * d_model, n_kept))
        ),
        summary="with checkpointing, you take the larger of two parts instead of their sum",
        message="{summary}. While the backward pass recomputes a layer, are the inputs of all layers still in memory?",
        hints=[WITH_CHECKPOINTING],
    ),
    Mistake(
        "n_kept_of_one_token",
        STEPS.but(
            activations=lambda activations, n_kept, n_tokens, size, checkpointing: (
                activations - size * (n_tokens - 1) * n_kept if checkpointing else activations
            )
        ),
        summary="with checkpointing, you count `n_kept` for only one token",
        message="{summary}, because you multiply only the inputs by `n_tokens`. Where do you need parentheses?",
        hints=[WITH_CHECKPOINTING],
    ),
    Mistake(
        "one_layer_without_checkpointing",
        STEPS.but(per_token=per_token_without_checkpointing(lambda n_layers, d_model, n_kept: n_kept)),
        summary="without checkpointing, you count the activations of only one layer",
        message=(
            "{summary}. The backward pass needs the activations of every layer. What should you multiply `n_kept` by?"
        ),
        hints=[WITHOUT_CHECKPOINTING],
    ),
    Mistake(
        "inputs_without_checkpointing",
        STEPS.but(
            per_token=per_token_without_checkpointing(lambda n_layers, d_model, n_kept: n_layers * (n_kept + d_model))
        ),
        summary="without checkpointing, you count the layers' inputs in addition to `n_kept`",
        message=(
            "{summary}. `n_kept` already counts every number that a layer keeps for a token, so you count the inputs "
            "twice."
        ),
        hints=[WITHOUT_CHECKPOINTING],
    ),
    Mistake(
        "n_kept_times_d_model",
        STEPS.but(n_kept=lambda n_kept, d_model: n_kept * d_model),
        summary="you multiply `n_kept` by `d_model`",
        message=(
            "{summary}, so for `n_kept` 41 and `d_model` 5 you count 205 numbers instead of 41. What does `n_kept` "
            "count?"
        ),
        hints=[WITHOUT_CHECKPOINTING],
    ),
    Mistake(
        "parameters_not_sharded",
        STEPS.but(bill=lambda bill, share, n_workers: bill | {"parameters": share * n_workers}),
        summary="you don't divide the parameters among the workers",
        message="{summary}, which is ZeRO stage 2. Here each worker also keeps only its share of the parameters.",
        hints=[OF_8_WORKERS],
    ),
    Mistake(
        "gradients_not_sharded",
        STEPS.but(bill=lambda bill, share, n_workers: bill | {"gradients": share * n_workers}),
        summary="you don't divide the gradients among the workers",
        message="{summary}. With 8 workers, each keeps only the gradients of its own eighth of the parameters.",
        hints=[OF_8_WORKERS],
    ),
    Mistake(
        "optimizer_not_sharded",
        STEPS.but(optimizer=lambda optimizer, n_workers: optimizer * n_workers),
        summary="you don't divide the optimizer state among the workers",
        message="{summary}. With 8 workers, each keeps the moment estimates of only its own eighth of the parameters.",
        hints=[OF_8_WORKERS],
    ),
    Mistake(
        "optimizer_divided_twice",
        STEPS.but(optimizer=lambda optimizer, n_workers: optimizer / n_workers),
        summary="you divide the optimizer state by the number of workers twice",
        message="{summary}: with 8 workers, by 64 instead of 8. Which of your variables is already divided?",
        hints=[OF_8_WORKERS],
    ),
    Mistake(
        "gradients_of_each_token",
        STEPS.but(bill=lambda bill, share, n_tokens: bill | {"gradients": share * n_tokens}),
        summary="you count a separate gradient for each token",
        message=(
            "{summary}, so with 7 tokens your total is 7 times too large. The gradients of all tokens are added up. "
            "How many numbers does the sum have for each parameter?"
        ),
        hints=["After `loss.backward()` on 7 tokens, which shape does the `grad` of a parameter have?"],
    ),
    Mistake(
        "parameters_times_layers",
        STEPS.but(n_parameters=lambda n_parameters, n_layers: n_parameters * n_layers),
        summary="you multiply `n_parameters` by `n_layers`",
        message=(
            "{summary}, so with 3 layers the first three lines are 3 times too large. Does `n_parameters` count the "
            "parameters of one layer or of the whole model?"
        ),
        hints=["If you print `sum(p.numel() for p in model.parameters())`, which layers are in it?"],
    ),
    Mistake(
        "larger_units",
        *[STEPS.but(bill=in_larger_units(unit)) for unit in (10**9, 10**6, 2**30, 2**20)],
        summary="you convert the bytes to a larger unit",
        message="{summary}. Return plain bytes: 22 float32 numbers take 88 bytes.",
        hints=["By which power of 10 or 2 do you divide?"],
    ),
    Mistake(
        "rounds_down",
        STEPS.but(share=lambda n_parameters, n_workers, size: size * (n_parameters // n_workers)),
        summary="you round down when you divide the parameters among the workers",
        message="{summary}. 1,100 parameters on 8 workers are 137.5 per worker on average, not 137.",
        hints=[OF_8_WORKERS],
    ),
    Mistake(
        "bits_as_bytes",
        STEPS.but(size=lambda: 32),
        summary="you count 32 bytes for each number",
        message="{summary}, so your result is 8 times too large. A float32 has 32 *bits*. How many bytes is that?",
        hints=["How many bits does a byte have?"],
    ),
    Mistake(
        "only_the_optimizer_is_shared",
        STEPS.but(
            bill=lambda bill, share, n_workers: bill | dict.fromkeys(["parameters", "gradients"], share * n_workers)
        ),
        summary="you divide only the optimizer state among the workers",
        message=(
            "{summary}, which is ZeRO stage 1. Here the parameters and the gradients are also sharded. Which fraction "
            "of them does one of 8 workers keep?"
        ),
        hints=[OF_8_WORKERS],
    ),
    Mistake(
        "lines_exchanged",
        STEPS.but(bill=lambda bill: bill | {"gradients": bill["optimizer"], "optimizer": bill["gradients"]}),
        summary="you swap the bytes of the gradients and the bytes of the optimizer state",
        message="{summary}. Which of these items stores two numbers for each parameter?",
        hints=["A parameter has one gradient. How many moment estimates (running means) does Adam keep for it?"],
    ),
]


EXERCISE = Exercise(
    reference=memory_bill,
    steps=STEPS,
    cases=memory_bill_cases,
    points=2,
    verified="All four lines are right, with and without checkpointing, for one worker and for many.",
    hints=[
        "Start with one worker, one layer and one token. How many numbers does each line hold, and how many bytes does "
        "a number take?",
        "A parameter has one gradient and two moment estimates (running means). With checkpointing, you keep the "
        "input of every layer and the `n_kept` numbers of one layer.",
        "A token takes `n_layers * d_model + n_kept` numbers with checkpointing, and `n_layers * n_kept` without.",
    ],
    messages={
        "scaled_n_tokens: n_tokens / 2": Wording(
            "{summary}, so your total for the activations is half of what it should be. How many bytes does a float32 "
            "take?",
            summary="you count 2 bytes for each activation",
        ),
        "number_size: 2": Wording(
            "{summary}, as for float16 or bfloat16, so your result is half of what it should be. How many bytes does "
            "a float32 take?",
            summary="you count 2 bytes for each number",
            hints=["How many bits does a float32 have, and how many bits does a byte have?"],
        ),
        "number_size: 8": Wording(
            "{summary}, as for float64, so your result is twice as large as it should be. How many bytes does a "
            "float32 take?",
            summary="you count 8 bytes for each number",
        ),
        "number_size: 1": Wording(
            "{summary}, so you return the count of numbers instead of bytes. How many bytes does a float32 take?",
            summary="you count one byte for each number",
        ),
        "number_optimizer: 3": Wording(
            "{summary}, but the gradient has its own line. How many moment estimates (running means) does Adam keep "
            "for each parameter?",
            summary="you count three numbers per parameter for the optimizer state",
        ),
        "number_optimizer: 4": Wording(
            "{summary}, so your optimizer state is twice as large as it should be. How many moment estimates (running "
            "means) does Adam keep for each parameter?",
            summary="you count four numbers per parameter for the optimizer state",
        ),
        "part_left_out_share: size * n_parameters": Wording(
            "{summary}. With 8 workers, each keeps only an eighth of these numbers. Which argument do you leave out?",
            summary="you don't divide the parameters, the gradients and the optimizer state among the workers",
        ),
        "part_left_out_share: n_parameters": Wording(
            "{summary}, so these lines are a quarter of what they should be. How many bytes does a float32 take?",
            summary="you count the parameters, the gradients and the optimizer state in numbers instead of bytes",
        ),
        "operator_share: (size * n_parameters) * (n_workers)": Wording(
            "{summary}, so with 8 workers the first three lines are 64 times too large. If more workers share a "
            "model, does each of them keep more of it or less?",
            summary="you multiply by the number of workers instead of dividing by it",
        ),
        "part_left_out_per_token: n_layers * d_model": Wording(
            "{summary}. While the backward pass recomputes a layer, which other numbers are in memory?",
            summary="with checkpointing, you count only the inputs of the layers",
        ),
        "condition_per_token": Wording(
            "{summary}. Checkpointing should save memory: in a model of 3 layers, which of your two counts is smaller?",
            summary="you swap the cases with and without checkpointing",
        ),
        "always_one_per_token: n_layers * n_kept": Wording(
            "{summary}. With checkpointing, which numbers stay in memory, and which does the backward pass recompute?",
            summary="you count the activations as if `checkpointing` were always False",
        ),
        "always_one_per_token: n_layers * d_model + n_kept": Wording(
            "{summary}. Without checkpointing, how many numbers does each layer keep?",
            summary="you count the activations as if `checkpointing` were always True",
        ),
        "part_left_out_activations: per_token": Wording(
            "{summary}. How many numbers do 7 tokens keep if one token keeps 41?",
            summary="you count the activations of only one token",
        ),
        "left_out_optimizer: share": Wording(
            "{summary}, so your optimizer state is half of what it should be. How many moment estimates (running "
            "means) does Adam keep for each parameter?",
            summary="you count one number per parameter for the optimizer state",
        ),
        "part_left_out_activations: per_token * n_tokens": Wording(
            "{summary}, so your total is a quarter of what it should be. How many bytes does a float32 take?",
            summary="you count the activations in numbers instead of bytes",
        ),
    },
    mistakes=MISTAKES,
)
