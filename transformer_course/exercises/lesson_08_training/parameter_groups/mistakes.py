"""What goes wrong when parameters are listed and divided, and with the form of the groups."""

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_08_training.parameter_groups.answer import STEPS


def by_name(rule):
    """Make the step that decides by the names of parameters, or by parts of them."""

    def decays(model):
        names = {id(p): name for name, p in model.named_parameters()}
        return lambda p: rule(names[id(p)])

    return STEPS.but(decays=decays)


MISTAKES = [
    Mistake(
        "shared_ones_twice",
        STEPS.but(parameters=lambda model: [p for m in model.modules() for p in m.parameters(recurse=False)]),
        does="parameters that modules share are listed several times",
        says="{does}, and would be decayed and stepped as often. AdamW refuses such groups, or warns of them.",
        hints=["How many tensors are in the groups, and how many does `model.parameters()` give?"],
    ),
    Mistake(
        "everything_decays",
        STEPS.but(
            groups=lambda parameters, decay, entry: [{"params": [entry(p) for p in parameters], "weight_decay": decay}]
        ),
        STEPS.but(no_decay=lambda weight_decay: weight_decay),
        does="all parameters get the weight decay",
        says="Everything decays, biases and norms, too. A norm's weights would be pulled from 1 towards 0.",
        hints=["Which weight decay has the group of the vectors?"],
    ),
    Mistake(
        "embeddings_do_not_decay",
        STEPS.but(
            decays=lambda model: (
                lambda p: p.dim() >= 2 and not any(p is q for n, q in model.named_parameters() if "embedding" in n)
            )
        ),
        does="embeddings do not decay",
        says="The embedding is a matrix, and does not decay here. It is the output layer's matrix, too.",
        hints=["Which group holds the tensor of shape (vocab_size, d)?"],
    ),
    Mistake(
        "weights_of_layers_only",
        by_name(lambda name: name.endswith("weight") and "norm" not in name),
        does="only the weights of linear layers and embeddings decay",
        says="{does}. Other parameters have two axes and more, too: `table` and `filters` in this model.",
        hints=["Which group holds the filters, of shape (n, d, d)?"],
    ),
    Mistake(
        "norms_decay",
        by_name(lambda name: "bias" not in name),
        does="everything decays that is not called bias, the weights of norms included",
        says="{does}, which are vectors.",
        hints=["Which group holds the weights of the norm?"],
    ),
    Mistake(
        "decides_by_names",
        by_name(lambda name: "norm" not in name and "bias" not in name),
        does="everything decays that is called neither bias nor norm",
        says=(
            "What decays is decided by names. That works until a parameter is called otherwise, as `gate` in this "
            "model, which is a vector."
        ),
        hints=["Print the names and shapes of `model.named_parameters()`."],
    ),
    Mistake(
        "two_axes_exactly",
        STEPS.but(decays=lambda: lambda p: p.dim() == 2),
        does="parameters with three axes are grouped with the vectors, not with the matrices",
        says="A parameter with three axes does not decay. Those with two *and more* should.",
        hints=["Into which group does a tensor with 3 axes fall?"],
    ),
    Mistake(
        "a_group_is_empty",
        STEPS.but(others=lambda: []),
        STEPS.but(decaying=lambda: []),
        does="one of the two groups is empty",
        says=(
            "{does}. Do both lists run over the same `model.parameters()`? It is an iterator: the first list uses it "
            "up, and nothing is left for the second."
        ),
        hints=["How long are the two lists? What does `list(parameters)` give when it is asked for twice?"],
    ),
    Mistake(
        "leaves_some_out",
        STEPS.but(others=lambda parameters, entry: [entry(p) for p in parameters if p.dim() == 1]),
        STEPS.but(decaying=lambda parameters, entry: [entry(p) for p in parameters if p.dim() == 2]),
        does="some parameters are in neither group",
        says="{does}: they would never be trained. Which numbers of axes are left out?",
        hints=["How many tensors are in the groups, and how many does `model.parameters()` give?"],
    ),
    Mistake(
        "leaves_the_second_to_the_default",
        STEPS.but(
            groups=lambda decaying, others, decay: [{"params": decaying, "weight_decay": decay}, {"params": others}]
        ),
        does="a group says nothing of its weight decay",
        says="{does}. AdamW then takes its own, and that is not 0.",
        hints=["What is the default of `weight_decay` in `torch.optim.AdamW`?"],
    ),
    Mistake(
        "a_fixed_weight_decay",
        STEPS.but(weight_decay=lambda: 0.01),
        STEPS.but(decay=lambda: 0.1).attempt,
        does="the weight decay is always the same number, whatever the argument says",
    ),
]
