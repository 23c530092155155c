"""What goes wrong when parameters are listed and divided."""

from torch import nn

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_08_training.parameter_groups.answer import STEPS


def by_name(rule):
    """Make the step that decides by the names of parameters, or by parts of them."""

    def decays(model):
        names = {id(p): name for name, p in model.named_parameters()}
        return lambda p: rule(names[id(p)])

    return STEPS.but(decays=decays)


def by_module(kinds, *, of_them):
    """Make the step that decides by the module that a parameter belongs to."""

    def decays(model):
        modules = [module for module in model.modules() if isinstance(module, kinds)]
        theirs = {id(p) for module in modules for p in module.parameters(recurse=False) if not of_them or p.dim() > 1}
        return lambda p: (id(p) in theirs) == of_them

    return STEPS.but(decays=decays)


def norm_or_bias(name):
    return "norm" in name or "bias" in name


MISTAKES = [
    Mistake(
        "shared_ones_twice",
        STEPS.but(parameters=lambda model: [p for m in model.modules() for p in m.parameters(recurse=False)]),
        STEPS.but(parameters=lambda model: [p for m in model.modules() for p in m.parameters()]).attempt,
        does="parameters that modules share, or that modules hold for modules in them, are listed several times",
        says=(
            "A parameter comes several times: it would be decayed and stepped as often. AdamW refuses such groups, or "
            "warns of them."
        ),
        hints=["How many tensors are in the groups, and how many does `model.parameters()` give?"],
    ),
    Mistake(
        "the_whole_state",
        STEPS.but(parameters=lambda model: list(model.state_dict().values())),
        STEPS.but(parameters=lambda model: [*model.parameters(), *model.buffers()]).attempt,
        does="buffers are listed as well, which are not trained",
        says=(
            "Among these are tensors that are not trained, such as the table of positions. They belong to the *state* "
            "of the model, and are no parameters."
        ),
        hints=["What does `register_buffer` do?"],
    ),
    Mistake(
        "everything_decays",
        STEPS.but(
            groups=lambda parameters, decay, entry: [{"params": [entry(p) for p in parameters], "weight_decay": decay}]
        ),
        STEPS.but(no_decay=lambda weight_decay: weight_decay),
        STEPS.but(decays=lambda: lambda p: True).attempt,
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
        by_module(nn.Linear, of_them=True),
        does="only the weights of linear layers decay, or of linear layers and embeddings",
        says="{does}. Other parameters have two axes and more, too: `table` and `filters` in this model.",
        hints=["Which group holds the filters, of shape (n, d, d)?"],
    ),
    Mistake(
        "all_but_norms_decay",
        by_module(nn.LayerNorm, of_them=False),
        does="everything decays that belongs to no norm, biases included",
        says="Only what belongs to a norm is left alone, and all else decays: the biases, too, which are vectors.",
        hints=["Which group holds the bias of the linear layer?"],
    ),
    Mistake(
        "norms_decay",
        by_name(lambda name: "bias" not in name),
        does="everything decays that is not called bias, the weights of norms included",
        says=(
            "What is called bias is left alone, and all else decays: the weights of the norms, too, which are vectors."
        ),
        hints=["Which group holds the weights of the norm?"],
    ),
    Mistake(
        "decides_by_names",
        by_name(lambda name: not norm_or_bias(name)),
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
        "leaves_some_out",
        STEPS.but(others=lambda parameters, entry: [entry(p) for p in parameters if p.dim() == 1]),
        STEPS.but(decaying=lambda parameters, entry: [entry(p) for p in parameters if p.dim() == 2]),
        STEPS.but(decaying=lambda parameters, entry: [entry(p) for p in parameters if p.dim() > 2]).attempt,
        STEPS.but(
            decaying=lambda parameters, entry: [entry(p) for p in parameters if p.dim() == 2],
            others=lambda parameters, entry: [entry(p) for p in parameters if p.dim() == 1],
        ).attempt,
        STEPS.but(parameters=lambda model: [p for name, p in model.named_parameters() if "embedding" not in name]),
        does="some parameters are in neither group",
        says="{does}: they would never be trained. Which numbers of axes are left out?",
        hints=["How many tensors are in the groups, and how many does `model.parameters()` give?"],
    ),
    Mistake(
        "looks_for_tensors_in_a_list",
        STEPS.but(others=lambda parameters, decaying: [p for p in parameters if p not in decaying]).attempt,
        does="`in` looks for tensors in a list of tensors",
        says=(
            "`in` compares with each member by `==`, and torch does so entry by entry: tensors of different shapes "
            "crash, and equal numbers are no proof of one and the same tensor."
        ),
        hints=[
            "What is `torch.ones(2) == torch.ones(2)`?",
            "Which tensors come into the second group can be told without the first.",
            "`[p for p in model.parameters() if p.dim() < 2]`.",
        ],
    ),
]
