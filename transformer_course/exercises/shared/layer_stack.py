"""Steps and mistakes for a stack of layers: an encoder, a decoder or a language model."""

import math

import torch
from torch.nn import functional as F

from transformer_course.exercise import Mistake, Wording
from transformer_course.steps import InSteps, with_inputs


def embedded(self, tokens):
    """look up the embedding of each token → the embeddings"""
    return self.embedding(tokens)


def width(self):
    """read the width of the embeddings → the width d_model"""
    return self.embedding.embedding_dim


def factor(width):
    """take the square root of d_model

    the factor √d_model

    √d_model
    """
    return math.sqrt(width)


def scaled(embedded, factor):
    """multiply the embeddings by √d_model → the scaled embeddings"""
    return embedded * factor


def length(tokens):
    """count the tokens of a sentence → the number of tokens"""
    return tokens.shape[1]


def encodings(self, length):
    """take the first rows of `positions` → the positional encodings: one row for each token"""
    return self.positions[:length]


def first_input(scaled, encodings):
    """add the positional encodings to the scaled embeddings

    the input of the first layer: scaled embeddings plus encodings
    """
    return scaled + encodings


def layers(self):
    """take the layers in order → the list of layers"""
    return list(self.layers)


def layer_input():
    """pass each layer the output of the previous layer → the input of each layer"""
    return lambda number, previous: previous


def layer_mask(mask):
    """pass the mask to every layer → the mask of each layer"""
    return lambda number: mask


def layer_output(layer_mask):
    """call each layer with its input and its mask → the output of each layer"""
    return lambda layer, number, x: layer(x, layer_mask(number))


def kept():
    """keep the output of each layer unchanged → the unchanged output of each layer"""
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


ROW_BY_ROW = "Row t of the table is the encoding of position t, counted from 0."
SLICE = "`self.positions[: tokens.shape[1]]`."
INPUT_MESSAGES = {
    "part_left_out_scaled: embedded": Wording(
        "You don't multiply the embeddings by √d_model. The paper's embeddings have variance 1/d_model: at d_model = "
        "512, a typical entry is about 0.04, and the positional encodings, which reach 1, would dominate the sum. "
        "Where should you apply the factor?",
        summary="you don't multiply the embeddings by √d_model",
        hints=["How large is a typical entry of an embedding with variance 1/d_model, and how large is a sinusoid?"],
    ),
    "call_left_out_factor": Wording(
        "{summary}, so you multiply the embeddings by d_model. With d_model = 512, they become about 23 times as "
        "large as they should be. What should the factor be?",
        summary="you never take the square root of d_model",
        hints=["If the embeddings have variance 1/d_model, which factor makes it 1?"],
    ),
    "part_left_out_first_input: scaled": Wording(
        "{summary}, so the layers can't use the order of the tokens. Where should you use `self.positions`?",
        summary="you never add the positional encodings",
        hints=["Does your encoding of `dog bites man` contain the same vectors as that of `man bites dog`?"],
    ),
    "moved_scaled: first_input": Wording(
        "{summary}, so their entries reach √d_model instead of 1. Should you multiply before or after you add the "
        "positional encodings?",
        summary="you also multiply the positional encodings by √d_model",
        hints=["For an embedding of zeros, what should the input of the first layer be?"],
    ),
}
"""Messages for generated mistakes in embedding tokens and adding positions."""

LAYER_MESSAGES = {
    "index_outputs: found[0]": Wording(
        "You pass your last layer the embedded tokens instead of the previous layer's output, so the earlier layers "
        "have no effect. What should each layer get as its input?",
        summary="you pass the last layer the embedded tokens instead of the output of the layer before it",
        hints=["With two layers, what does your second layer get as its x?"],
    ),
    "index_output: outputs[1]": Wording(
        "{summary}, so the other layers have no effect. Is your `return` inside the loop?",
        summary="you return the output of the first layer",
        hints=["How many times does a loop run if it contains a `return`?"],
    ),
}
"""Messages for generated mistakes in the loop over the layers."""


def inverted(mask: str) -> Wording:
    """Return the message for inverting ``mask`` before passing it to attention or to a layer."""
    return Wording(
        "{summary} before you pass it on. The layers and attention use the same convention: True means *may attend*.",
        summary=f"you invert `{mask}`",
        hints=["What does True mean in this course, and what does it mean in `nn.MultiheadAttention`?"],
    )


def of_the_positions(steps: InSteps) -> list[Mistake]:
    """Return the mistakes in selecting rows from the table of positions."""
    return [
        Mistake(
            "one_position",
            steps.but(encodings=lambda self, length: self.positions[length - 1]),
            steps.but(encodings=lambda self, length: self.positions[length]).attempt,
            summary="you add the same row of `positions` to all tokens",
            message="{summary}, so every token gets the same position. Which rows of the table should n tokens get?",
            hints=["What is `table[3]`, and what is `table[:3]`?"],
        ),
        Mistake(
            "positions_counted_from_1",
            steps.but(encodings=lambda self, length: self.positions[1 : length + 1]),
            summary="you leave out row 0 of `positions`",
            message=(
                "{summary}, so every token gets the encoding of the next position. Which row should the first token "
                "get?"
            ),
            hints=["Where does your slice start, and which position does row 0 of the table encode?"],
        ),
        Mistake(
            "positions_by_token",
            steps.but(encodings=lambda self, tokens: self.positions[tokens]),
            summary="you look up positions by token ID",
            message=(
                "{summary}, so a token gets the same encoding at every position. What should you index the table with?"
            ),
            hints=["Which row does token 5 get at position 0, and which at position 3?"],
        ),
    ]


def input_mistakes(steps: InSteps) -> list[Mistake]:
    """Return the mistakes in embedding tokens and adding positions."""
    return [
        Mistake(
            "scaled_by_the_root_of_the_length",
            steps.but(width=lambda tokens: tokens.shape[1]),
            summary="you multiply by the square root of the number of tokens instead of √d_model",
            message=(
                "{summary}, so the same word has larger entries in a longer sentence. Where can you read the width of "
                "an embedding?"
            ),
            hints=["What is your factor for a sentence of 4 tokens, and what is it for one of 9?"],
        ),
        Mistake(
            "scaled_by_the_root_of_the_vocabulary_size",
            steps.but(width=lambda self: self.embedding.num_embeddings),
            summary="you multiply by √vocab_size instead of √d_model",
            message=(
                "{summary}, so a larger vocabulary makes the embeddings larger. Where can you read the width of an "
                "embedding?"
            ),
            hints=["The embedding table has shape (vocab_size, d_model). Which of these sizes do you use?"],
        ),
        Mistake(
            "scaled_by_the_root_of_max_length",
            steps.but(width=lambda self: len(self.positions)).attempt,
            message=(
                "You multiply by √max_length, the square root of the number of rows of `positions`, instead of "
                "√d_model, so a larger `max_length` makes the embeddings larger. Where can you read the width of an "
                "embedding?"
            ),
            hints=[
                "The table `positions` has shape (max_length, d_model). Which of these sizes do you use?",
                "The factor is the square root of the width d_model.",
                "`math.sqrt(self.embedding.embedding_dim)`.",
            ],
        ),
        *of_the_positions(steps),
        Mistake(
            "positions_after_the_layers",
            steps.but(
                first_input=lambda scaled: scaled,
                output=lambda outputs, encodings: outputs[-1] + encodings,
            ),
            summary="you add the positional encodings to the output of the last layer",
            message=(
                "{summary}, so the layers can't use the order of the tokens. What should the input of the first layer "
                "be?"
            ),
            hints=[
                "Attention treats its keys as a set. Without positions, can a layer distinguish `dog bites man` from "
                "`man bites dog`?",
            ],
        ),
        Mistake(
            "columns_of_the_table",
            steps.but(encodings=lambda self, length: self.positions[:, :length]).attempt,
            message=(
                "You slice columns of `positions` instead of rows, so the shapes don't match. Which index selects the "
                "rows of a table?"
            ),
            hints=[
                "`self.positions` has shape (max_length, d_model). Which dimension do you slice?",
                ROW_BY_ROW,
                SLICE,
            ],
        ),
        Mistake(
            "positions_called",
            steps.but(encodings=lambda self, tokens: self.positions(tokens)).attempt,
            message=(
                "You call `self.positions` as if it were a module, but it is a tensor, so your code crashes. It has "
                "one row for each position. How do you select the first n rows of a tensor?"
            ),
            hints=["What does `__init__` assign to `self.positions`?", ROW_BY_ROW, SLICE],
        ),
    ]


def layer_mistakes(steps: InSteps) -> list[Mistake]:
    """Return the mistakes in the loop over the layers and in its result."""
    return [
        Mistake(
            "one_layer_again_and_again",
            steps.but(layers=lambda layers: [layers[0]] * len(layers)),
            summary="you call the same layer every time",
            message=(
                "{summary}, so the other layers have no effect and get no gradient. Which layer does your loop call?"
            ),
            hints=["After `backward()`, which parameters have no gradient?"],
        ),
        Mistake(
            "added_around_each_layer",
            steps.but(kept=lambda: lambda before, after: before + after),
            summary="you add the output of each layer to its input",
            message=(
                "{summary}, but each layer already contains residual connections, so you add its input once too "
                "often. What should the next layer get as its input?"
            ),
            hints=["Which residual sums does a layer compute? How many more does your loop compute?"],
        ),
        Mistake(
            "positions_in_every_layer",
            steps.but(
                layer_input=lambda encodings: lambda number, previous: previous + encodings if number else previous
            ),
            steps.but(layer_input=lambda encodings: lambda number, previous: previous + encodings),
            summary="you add the positional encodings inside the loop over the layers",
            message=(
                "{summary}, so you add them again in every layer. Some models do that, but here you should add them "
                "only once, to the embeddings. Where should that line be?"
            ),
            hints=["With three layers, how many times do you add the positional encodings?"],
        ),
        Mistake(
            "one_more_norm",
            steps.but(output=lambda outputs: F.layer_norm(outputs[-1], outputs[-1].shape[-1:])),
            summary="you normalize the output of the last layer again",
            message=(
                "{summary}. Post-norm layers already end with a norm, and a pre-norm stack needs exactly one norm "
                "after its last layer. Which norm should you remove?"
            ),
            hints=["How many times do you normalize after the last residual sum? How many times should you?"],
        ),
    ]


def all_outputs(steps: InSteps) -> Mistake:
    """Return the mistake of returning the outputs of all layers."""
    return Mistake(
        "all_outputs",
        steps.but(output=lambda outputs: outputs[1:]),
        summary="you return the outputs of all layers",
        message="{summary}, so your result is a list or has an extra dimension. Which output should you return?",
        hints=["What is the type or the shape of your result?"],
    )


def mask_mistakes(steps: InSteps, step: str, mask: str) -> list[Mistake]:
    """Return the mistakes in passing a mask to the layers.

    Args:
        steps: The answer in steps.
        step: The step that returns each layer's mask.
        mask: Name of the mask argument.
    """
    return [
        Mistake(
            f"{mask}_in_one_layer",
            steps.but(**{step: with_inputs(lambda given: lambda number: None if number else given, mask)}),
            steps.but(**{step: with_inputs(lambda given: lambda number: given if number else None, mask)}).attempt,
            summary=f"you pass `{mask}` to only some of the layers",
            message=(
                "{summary}, so the other layers attend to positions that the mask should hide. Which layers should "
                "get the mask?"
            ),
            hints=[f"With three layers, which of them get `{mask}`?"],
        ),
    ]


def own_mask(steps: InSteps, whose: str) -> Mistake:
    """Return the mistake of applying a causal mask that the caller did not request."""
    return Mistake(
        "a_mask_of_its_own",
        steps.but(layer_mask=lambda tokens: lambda number: _causal(tokens)),
        steps.but(layer_mask=lambda mask, tokens: lambda number: _causal(tokens) if mask is None else mask),
        summary=f"your {whose} creates its own causal mask",
        message=(
            "{summary}. The caller decides which positions to hide: without a mask, every position may attend to "
            "every other one. What should you pass to the layers when `mask` is None?"
        ),
        hints=["With 3 tokens and no mask, may position 0 attend to position 2? Does it in your code?"],
    )


def _causal(tokens: torch.Tensor) -> torch.Tensor:
    return torch.ones(tokens.shape[1], tokens.shape[1]).tril().bool()
