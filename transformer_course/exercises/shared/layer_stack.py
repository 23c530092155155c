"""A stack of layers, an encoder, a decoder or a language model: the steps and their mistakes."""

import math

import torch
from torch.nn import functional as F

from transformer_course.exercise import Mistake, Wording
from transformer_course.steps import InSteps, asking


def embedded(self, tokens):
    """look up the vector of each token → the embeddings"""
    return self.embedding(tokens)


def width(self):
    """read the width of the embeddings → the width d_model"""
    return self.embedding.embedding_dim


def factor(width):
    """take its square root → the factor √d_model"""
    return math.sqrt(width)


def scaled(embedded, factor):
    """multiply the embeddings by it → the scaled embeddings"""
    return embedded * factor


def length(tokens):
    """count the tokens of a sentence → the number of tokens"""
    return tokens.shape[1]


def encodings(self, length):
    """take as many rows of `positions` → the positional encodings"""
    return self.positions[:length]


def first_input(scaled, encodings):
    """add the positions to the scaled embeddings → the input of the first layer: scaled embeddings plus encodings"""
    return scaled + encodings


def layers(self):
    """take the layers in their order → the list of layers"""
    return list(self.layers)


def layer_input():
    """give each layer the output of the one before → the input of each layer"""
    return lambda number, previous: previous


def layer_mask(mask):
    """give every layer the mask → the mask of each layer"""
    return lambda number: mask


def layer_output(layer_mask):
    """call each layer with its input and its mask → the output of each layer"""
    return lambda layer, number, x: layer(x, layer_mask(number))


def kept():
    """keep the output of each layer as it is → what is kept of each layer"""
    return lambda before, after: after


def outputs(first_input, layers, layer_input, layer_output, kept):
    """call the layers one after the other → the outputs of all layers"""
    found = [first_input]
    for number, layer in enumerate(layers):
        found.append(kept(found[-1], layer_output(layer, number, layer_input(number, found[-1]))))
    return found


def output(outputs):
    """return the output of the last layer → the output of the last layer"""
    return outputs[-1]


ROW_BY_ROW = "Row t of the table belongs to the token at position t, counted from 0."
SLICE = "`self.positions[: tokens.shape[1]]`."
TOLD_OF_THE_INPUT = {
    "part_left_out_scaled: embedded": Wording(
        "The embeddings are not scaled. Drawn with variance 1/d_model, as they should be, they are small beside the "
        "positions. Look at what is done before the positions are added.",
        summary="the embeddings are not multiplied by √d_model",
        hints=["How large are the numbers of an embedding, and how large those of a sinusoid?"],
    ),
    "moved_scaled: first_input": Wording(
        "{summary}. Only the embeddings are scaled. Look at what is multiplied.",
        summary="the positional encodings are multiplied by √d_model, too",
        hints=["What should the input of the first layer be for an embedding of zeros?"],
    ),
}
"""What is said of generated mistakes where tokens become vectors with positions."""

TOLD_OF_THE_LAYERS = {
    "index_outputs: found[0]": Wording(
        "Only the last layer has an effect: every layer is given the embedded tokens, or the others are not called. "
        "Each should go on from the output of the one before. Look at what each layer is given.",
        summary="the last layer is given the embedded tokens, not the output of the layer before it",
        hints=["What does the second layer get as its x?"],
    ),
    "index_output: outputs[1]": Wording(
        "Only the first layer is used. Look at where the `return` is, and which layers are called.",
        summary="the output of the first layer is returned",
        hints=["How often does a loop run that contains a `return`?"],
    ),
}
"""What is said of generated mistakes in the loop over the layers."""


def inverted(mask: str) -> Wording:
    """Return what is said of a mask of this name that is inverted, on its way to attention or to a layer."""
    return Wording(
        "Read the wrong way round: {summary}. True means *may attend to*, for the layers as well.",
        summary=f"`{mask}` is inverted",
        hints=["Which meaning has True in this course, and which in `nn.MultiheadAttention`?"],
    )


def input_mistakes(steps: InSteps) -> list[Mistake]:
    """Return what goes wrong where tokens become vectors with positions."""
    return [
        Mistake(
            "scaled_by_the_root_of_something_else",
            steps.but(width=lambda tokens: tokens.shape[1]),
            steps.but(width=lambda self: self.embedding.num_embeddings),
            steps.but(width=lambda self: len(self.positions)).attempt,
            summary="the factor is made of another number than the width of the embeddings",
            hints=[
                "The batch, the tokens of a sentence, the vocabulary, the rows of the table, the width: which is used?"
            ],
        ),
        Mistake(
            "one_position",
            steps.but(encodings=lambda self, length: self.positions[length - 1]),
            steps.but(encodings=lambda self, length: self.positions[length]).attempt,
            summary="all tokens get the same row of `positions`",
            message="{summary}, so that their places cannot be told apart. Look at how the table is indexed.",
            hints=["What is `table[3]`, and what is `table[:3]`?"],
        ),
        Mistake(
            "positions_by_token",
            steps.but(encodings=lambda self, tokens: self.positions[tokens]),
            summary="the positions are looked up by token",
            message="{summary}: wherever a token is, it gets the same one. Look at what the table is indexed with.",
            hints=["Which row does token 5 get at position 0, and which at position 3?"],
        ),
        Mistake(
            "columns_of_the_table",
            steps.but(encodings=lambda self, length: self.positions[:, :length]).attempt,
            message=(
                "The table is cut along its width: columns are taken instead of rows. Look at where the slice stands."
            ),
            hints=["`self.positions` has the shape (max_length, d_model). Which axis is cut?", ROW_BY_ROW, SLICE],
        ),
        Mistake(
            "positions_called",
            steps.but(encodings=lambda self, tokens: self.positions(tokens)).attempt,
            message="`self.positions` is called as if it were a module. It is a table, with a row for each position.",
            hints=["What does `__init__` put into `self.positions`?", ROW_BY_ROW, SLICE],
        ),
    ]


def layer_mistakes(steps: InSteps) -> list[Mistake]:
    """Return what goes wrong in the loop over the layers, and in what is returned."""
    return [
        Mistake(
            "one_layer_again_and_again",
            steps.but(layers=lambda layers: [layers[0]] * len(layers)),
            summary="one of the layers is called again and again, and the others never",
            hints=["Which parameters get no gradient?"],
        ),
        Mistake(
            "added_around_each_layer",
            steps.but(kept=lambda: lambda before, after: before + after),
            summary="the output of each layer is added to its input",
            message=(
                "Around each layer there is one more residual connection. The layers have theirs inside. Look at what "
                "is done with the output of a layer."
            ),
            hints=["Which sums does a layer make inside? How many more are there in your loop?"],
        ),
        Mistake(
            "positions_in_every_layer",
            steps.but(
                layer_input=lambda encodings: lambda number, previous: previous + encodings if number else previous
            ),
            steps.but(layer_input=lambda encodings: lambda number, previous: previous + encodings),
            summary="the positional encodings are added again in the loop over the layers",
            message=(
                "{summary}. Some models do so; here it happens once, at the beginning. Look at what is inside the loop."
            ),
            hints=["How often are they added if there are three layers?"],
        ),
        Mistake(
            "one_more_norm",
            steps.but(output=lambda outputs: F.layer_norm(outputs[-1], outputs[-1].shape[-1:])),
            summary="the output of the last layer is normalized once more",
            message="{summary}. Post-norm layers have normalized it already; pre-norm stacks need one norm at the end.",
            hints=["How often is the result normalized after its last sum? How often should it be?"],
        ),
    ]


def all_outputs(steps: InSteps) -> Mistake:
    """Return the mistake of a list for a result."""
    return Mistake(
        "all_outputs",
        steps.but(output=lambda outputs: outputs[1:]),
        summary="the outputs of all layers are returned",
        message="{summary}. Asked for is that of the last one.",
        hints=["What do `type(...)` or the shape say of the result?"],
    )


def mask_mistakes(steps: InSteps, step: str, mask: str) -> list[Mistake]:
    """Return what goes wrong with a mask on its way to the layers.

    Args:
        steps: The answer in steps.
        step: The step that returns the mask of each layer.
        mask: The name of the argument.
    """
    return [
        Mistake(
            f"{mask}_in_one_layer",
            steps.but(**{step: asking(lambda given: lambda number: None if number else given, mask)}),
            steps.but(**{step: asking(lambda given: lambda number: given if number else None, mask)}).attempt,
            summary=f"only some of the layers are given `{mask}`",
            hints=[f"With three layers, which of them use `{mask}`?"],
        ),
    ]


def own_mask(steps: InSteps, whose: str) -> Mistake:
    """Return the mistake of masks that nobody has asked for."""
    return Mistake(
        "a_mask_of_its_own",
        steps.but(layer_mask=lambda tokens: lambda number: _causal(tokens)),
        steps.but(layer_mask=lambda mask, tokens: lambda number: _causal(tokens) if mask is None else mask),
        summary=f"the {whose} makes a causal mask of its own",
        message=(
            "{summary}. The caller says what may be attended to, and without a mask everything may. Look at where the "
            "mask comes from."
        ),
        hints=["What should happen if `mask` is None?"],
    )


def _causal(tokens: torch.Tensor) -> torch.Tensor:
    return torch.ones(tokens.shape[1], tokens.shape[1]).tril().bool()
