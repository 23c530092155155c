"""What goes wrong when parameters are divided into groups."""

from torch import nn

from transformer_lab.course.exercise import Mistake


def groups(decaying, others, weight_decay):
    return [{"params": list(decaying), "weight_decay": weight_decay}, {"params": list(others), "weight_decay": 0.0}]


def by_dimension(parameters, weight_decay):
    parameters = list(parameters)
    return groups([p for p in parameters if p.dim() >= 2], [p for p in parameters if p.dim() < 2], weight_decay)


def shared_ones_twice(model, weight_decay):
    of_all_modules = [p for module in model.modules() for p in module.parameters(recurse=False)]
    return by_dimension(of_all_modules, weight_decay)


def shared_ones_twice_by_name(model, weight_decay):
    return by_dimension([p for _, p in model.named_parameters(remove_duplicate=False)], weight_decay)


def of_every_module_with_all_below(model, weight_decay):
    return by_dimension([p for module in model.modules() for p in module.parameters()], weight_decay)


def everything_in_the_second(model, weight_decay):
    return groups([p for p in model.parameters() if p.dim() >= 2], model.parameters(), weight_decay)


def matrices_in_both(model, weight_decay):
    parameters = list(model.parameters())
    return groups([p for p in parameters if p.dim() >= 2], [p for p in parameters if p.dim() <= 2], weight_decay)


def the_whole_state(model, weight_decay):
    return by_dimension(model.state_dict().values(), weight_decay)


def buffers_too(model, weight_decay):
    return by_dimension([*model.parameters(), *model.buffers()], weight_decay)


def everything_decays(model, weight_decay):
    return [{"params": list(model.parameters()), "weight_decay": weight_decay}]


def everything_decays_in_two_groups(model, weight_decay):
    matrices, vectors = by_dimension(model.parameters(), weight_decay)
    return [matrices, {**vectors, "weight_decay": weight_decay}]


def nothing_decays(model, weight_decay):
    matrices, vectors = by_dimension(model.parameters(), weight_decay)
    return [{**matrices, "weight_decay": 0.0}, vectors]


def vectors_decay(model, weight_decay):
    matrices, vectors = (group["params"] for group in by_dimension(model.parameters(), weight_decay))
    return groups(vectors, matrices, weight_decay)


def embeddings_do_not_decay(model, weight_decay):
    parameters = dict(model.named_parameters())
    decaying = [name for name, p in parameters.items() if p.dim() >= 2 and "embedding" not in name]
    return groups(
        [parameters[n] for n in decaying], [p for n, p in parameters.items() if n not in decaying], weight_decay
    )


def weights_of_linear_layers_only(model, weight_decay):
    decaying = [m.weight for m in model.modules() if isinstance(m, nn.Linear)]
    chosen = {id(p) for p in decaying}
    return groups(decaying, [p for p in model.parameters() if id(p) not in chosen], weight_decay)


def norms_decay(model, weight_decay):
    named = list(model.named_parameters())
    return groups([p for n, p in named if "bias" not in n], [p for n, p in named if "bias" in n], weight_decay)


def decides_by_names(model, weight_decay):
    named = list(model.named_parameters())
    without = {n for n, _ in named if "bias" in n or "norm" in n}
    return groups([p for n, p in named if n not in without], [p for n, p in named if n in without], weight_decay)


def weights_by_name(model, weight_decay):
    named = list(model.named_parameters())
    decaying = {n for n, _ in named if n.endswith("weight") and "norm" not in n}
    return groups([p for n, p in named if n in decaying], [p for n, p in named if n not in decaying], weight_decay)


def weights_of_norms_too_by_name(model, weight_decay):
    named = list(model.named_parameters())
    return groups([p for n, p in named if "weight" in n], [p for n, p in named if "weight" not in n], weight_decay)


def one_axis_is_enough(model, weight_decay):
    parameters = list(model.parameters())
    return groups([p for p in parameters if p.dim() >= 1], [p for p in parameters if p.dim() < 1], weight_decay)


def two_axes_are_not_enough(model, weight_decay):
    parameters = list(model.parameters())
    return groups([p for p in parameters if p.dim() > 2], [p for p in parameters if p.dim() <= 2], weight_decay)


def scalars_decay(model, weight_decay):
    parameters = list(model.parameters())
    return groups([p for p in parameters if p.dim() != 1], [p for p in parameters if p.dim() == 1], weight_decay)


def two_axes_exactly(model, weight_decay):
    parameters = list(model.parameters())
    return groups([p for p in parameters if p.dim() == 2], [p for p in parameters if p.dim() != 2], weight_decay)


def leaves_out_scalars(model, weight_decay):
    parameters = list(model.parameters())
    return groups([p for p in parameters if p.dim() >= 2], [p for p in parameters if p.dim() == 1], weight_decay)


def leaves_out_all_that_has_neither_one_axis_nor_two(model, weight_decay):
    parameters = list(model.parameters())
    return groups([p for p in parameters if p.dim() == 2], [p for p in parameters if p.dim() == 1], weight_decay)


def leaves_out_the_vectors(model, weight_decay):
    return by_dimension(model.parameters(), weight_decay)[:1]


MISTAKES = [
    Mistake(
        "shared_ones_twice",
        [
            shared_ones_twice,
            shared_ones_twice_by_name,
            of_every_module_with_all_below,
            everything_in_the_second,
            matrices_in_both,
        ],
        says=(
            "A parameter comes several times: it would be decayed and stepped as often. AdamW refuses such groups, or "
            "warns of them."
        ),
        hints=[
            "How many tensors are in the groups, and how many does `model.parameters()` give?",
            "The two embeddings and the output layer hold one and the same matrix.",
            "`model.parameters()` knows what it has given already, and gives it once.",
        ],
    ),
    Mistake(
        "the_whole_state",
        [the_whole_state, buffers_too],
        says=(
            "Among these are tensors that are not trained, such as the table of positions. They belong to the *state* of "
            "the model, but not to its parameters."
        ),
        hints=[
            "What does `register_buffer` do?",
            "`state_dict()` holds all that is saved; and what is shared, it holds several times.",
            "`model.parameters()` gives what is trained, each once.",
        ],
    ),
    Mistake(
        "everything_decays",
        [everything_decays, everything_decays_in_two_groups],
        says="Everything decays, biases and norms, too. A norm's weights would be pulled from 1 towards 0.",
        hints=[
            "Which weight decay has the group of the vectors?",
            "Tensors with fewer than two axes should be left alone.",
            "A group of their own, with a weight decay of 0.0.",
        ],
    ),
    Mistake(
        "nothing_decays",
        [nothing_decays],
        says="Nothing decays: both groups have a weight decay of 0.",
        hints=[
            "What is the argument `weight_decay` used for?",
            "The matrices should have it.",
            '`"weight_decay": weight_decay` in the group of the matrices.',
        ],
    ),
    Mistake(
        "vectors_decay",
        [vectors_decay],
        says="The groups have changed places: biases and norms decay, and matrices do not.",
        hints=[
            "Which weight decay has the group that holds the embedding?",
            "Tensors of two and more axes decay.",
            "`p.dim() >= 2` belongs to the group with `weight_decay`.",
        ],
    ),
    Mistake(
        "embeddings_do_not_decay",
        [embeddings_do_not_decay],
        says="The embedding is a matrix, and does not decay here. It is the output layer's matrix, too.",
        hints=[
            "Which group holds the tensor of shape (vocab_size, d)?",
            "It is not its name that counts, but its number of axes.",
            "`p.dim() >= 2`.",
        ],
    ),
    Mistake(
        "weights_of_linear_layers_only",
        [weights_of_linear_layers_only],
        says=(
            "Only the weights of `nn.Linear` decay. Other modules have matrices as well, and some parameters belong to no "
            "layer."
        ),
        hints=[
            "Which group holds the filters, of shape (n, d, d)?",
            "Ask the tensor, not the module it belongs to.",
            "`p.dim() >= 2`.",
        ],
    ),
    Mistake(
        "norms_decay",
        [norms_decay],
        says="What is called bias is left alone, and all else decays: the weights of the norms, too, which are vectors.",
        hints=[
            "Which group holds the weights of the norm?",
            "It is not the name that counts, but the number of axes.",
            "`p.dim() >= 2`.",
        ],
    ),
    Mistake(
        "decides_by_names",
        [decides_by_names],
        says=(
            "What decays is decided by names. That works until a parameter is called otherwise, as `gate` in this model, "
            "which is a vector."
        ),
        hints=[
            "Print the names and shapes of `model.named_parameters()`.",
            "A vector is a vector whatever it is called.",
            "`p.dim() >= 2`.",
        ],
    ),
    Mistake(
        "weights_by_name",
        [weights_by_name, weights_of_norms_too_by_name],
        says=(
            "What decays is decided by names. That works until a parameter is called otherwise, as `table` in this "
            "model, which has two axes."
        ),
        hints=[
            "Print the names and shapes of `model.named_parameters()`.",
            "It is not the name that counts, but the number of axes.",
            "`p.dim() >= 2`.",
        ],
    ),
    Mistake(
        "one_axis_is_enough",
        [one_axis_is_enough],
        says="Tensors of one axis decay, too: biases, and the weights of norms. Look at the comparison.",
        hints=[
            "How many axes has a bias, and how many a matrix?",
            "Which numbers of axes does the comparison let through?",
            "`>= 2` and `< 2`.",
        ],
    ),
    Mistake(
        "two_axes_are_not_enough",
        [two_axes_are_not_enough],
        says="Matrices do not decay: only tensors with more than two axes do. Look at the comparison.",
        hints=[
            "Into which group does a tensor with 2 axes fall?",
            "Two axes *and more* should decay.",
            "`>= 2` and `< 2`.",
        ],
    ),
    Mistake(
        "scalars_decay",
        [scalars_decay],
        says="A parameter without axes, a single number, decays. Only those with two axes and more should.",
        hints=[
            "What is `torch.tensor(3.0).dim()`?",
            "Into which group does a tensor with 0 axes fall?",
            "`>= 2` and `< 2` leave no gap and no overlap.",
        ],
    ),
    Mistake(
        "two_axes_exactly",
        [two_axes_exactly],
        says="A parameter with three axes does not decay. Those with two *and more* should.",
        hints=[
            "Into which group does a tensor with 3 axes fall?",
            "Matrices in a row are still matrices.",
            "`>= 2` and `< 2` leave no gap and no overlap.",
        ],
    ),
    Mistake(
        "leaves_out_scalars",
        [leaves_out_scalars, leaves_out_all_that_has_neither_one_axis_nor_two, leaves_out_the_vectors],
        says="Some parameters are in neither group: they would never be trained. Which numbers of axes are left out?",
        hints=[
            "How many tensors are in the groups, and how many does `model.parameters()` give?",
            "A single number has 0 axes, filters may have 3.",
            "`>= 2` and `< 2` leave no gap and no overlap.",
        ],
    ),
]
