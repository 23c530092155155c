"""Mistakes that can be made in an encoder and in a decoder, as functions of the answer in steps."""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from transformer_course.exercise import Mistake
from transformer_course.steps import InSteps, asking

SLICE = "`self.positions[: tokens.shape[1]]`."
ROW_BY_ROW = "Row t of the table belongs to the token at position t, counted from 0."
SCALE = "Multiply them by `math.sqrt(self.embedding.embedding_dim)`."


def embedding_mistakes(steps: InSteps) -> list[Mistake]:
    """Describe what goes wrong where tokens become vectors."""
    return [
        Mistake(
            "not_scaled",
            steps.but(scaled=lambda embedded: embedded),
            does="the embeddings are not multiplied by √d_model",
            says=(
                "The embeddings are not scaled. Drawn with variance 1/d_model, as they should be, they are small "
                "beside the positions. Look at what is done before the positions are added."
            ),
            hints=["How large are the numbers of an embedding, and how large those of a sinusoid?"],
        ),
        Mistake(
            "scaled_by_the_width",
            steps.but(factor=lambda width: width),
            steps.but(factor=lambda width: width**2).attempt,
            does="no root is taken of the width",
            says="The embeddings are scaled by a larger number than √d_model: no root is taken. Look at the factor.",
            hints=["With d_model = 16, the factor should be 4."],
        ),
        Mistake(
            "scaled_down",
            steps.but(scaled=lambda embedded, factor: embedded / factor),
            steps.but(scaled=lambda embedded, width: embedded / width).attempt,
            does="the embeddings are divided, not multiplied",
            says="The embeddings are divided, which makes them still smaller beside the positions. Look at the factor.",
            hints=["In the scores of attention √d_k is what they are divided by. And here?"],
        ),
        Mistake(
            "scaled_by_the_root_of_something_else",
            steps.but(width=lambda tokens: tokens.shape[1]),
            steps.but(width=lambda self: self.embedding.num_embeddings),
            steps.but(width=lambda self: len(self.positions)).attempt,
            steps.but(width=lambda tokens: tokens.shape[0]).attempt,
            steps.but(width=lambda self: len(self.layers)).attempt,
            steps.but(factor=lambda width: math.isqrt(width)).attempt,
            steps.but(width=lambda self: self.layers[0].feed_forward.w_1.out_features).attempt,
            does="the factor is made of another number than the width of the embeddings",
            says=(
                "The embeddings are scaled, and the factor is made of another number than d_model, which is the width "
                "of the embeddings. Look at what is measured."
            ),
            hints=[
                "Which numbers are there: the batch, the tokens of a sentence, the vocabulary, the "
                "rows of the table, and the width. Which of them is used?"
            ],
        ),
        Mistake(
            "width_not_known",
            steps.but(width=lambda: d_model).attempt,  # type: ignore[name-defined]  # noqa: F821
            says=(
                "`d_model` was an argument of `__init__`; `forward` does not know it. The width can be read off what "
                "is there."
            ),
            hints=[
                "Which shape has `self.embedding(tokens)`?",
                "The last entry of its shape is d_model.",
                "`self.embedding.embedding_dim`, or `x.shape[-1]`.",
            ],
        ),
        Mistake(
            "width_not_kept",
            steps.but(width=lambda self: self.d_model).attempt,
            says="There is no `self.d_model`: `__init__` does not keep it. The width can be read off what is there.",
            hints=[
                "Which shape has `self.embedding(tokens)`?",
                "The last entry of its shape is d_model.",
                "`self.embedding.embedding_dim`, or `x.shape[-1]`.",
            ],
        ),
        Mistake(
            "scales_the_table",
            steps.but(scaled=lambda self, tokens, factor: _scaled_in_place(self.embedding, factor)(tokens)).attempt,
            says=(
                "The table of embeddings itself is scaled, anew at each call. Look at what the factor is multiplied "
                "with."
            ),
            hints=[
                "Call the module twice. Is `self.embedding.weight` what it was?",
                "What is scaled are the vectors that come out of the table.",
                SCALE,
            ],
        ),
        Mistake(
            "tokens_not_embedded",
            steps.but(embedded=lambda tokens: tokens).attempt,
            says="The positions are added to the tokens' *ids*. Look up their vectors first.",
            hints=[
                "What does `__init__` prepare that is not used?",
                "A token is a row number of the table in `self.embedding`.",
                "`self.embedding(tokens)` gives (batch, n, d_model).",
            ],
        ),
        Mistake(
            "token_0_taken_for_padding",
            steps.but(embedded=lambda embedded, tokens: embedded * (tokens != 0).unsqueeze(-1)),
            does="token 0 is given a vector of zeros",
            says=(
                "{does}, as if it were padding. Which token is padding is not known here, and masks hide it. Look at "
                "what happens to the embeddings."
            ),
            hints=["What is the embedding of token 0, and what the input of the first layer there?"],
        ),
    ]


def _scaled_in_place(embedding: Any, factor: float) -> Any:
    embedding.weight.data *= factor
    return embedding


def position_mistakes(steps: InSteps) -> list[Mistake]:
    """Describe what goes wrong where the positions are added."""
    return [
        Mistake(
            "no_positions",
            steps.but(first_input=lambda scaled: scaled),
            does="no positional encodings are added",
        ),
        Mistake(
            "positions_scaled_too",
            steps.but(encodings=lambda encodings, factor: encodings * factor),
            does="the positional encodings are multiplied by the factor of the embeddings",
            says=(
                "The positional encodings are multiplied by √d_model, too. Only the embeddings are scaled. Look at "
                "what is multiplied."
            ),
            hints=["What should the input of the first layer be for an embedding of zeros?"],
        ),
        Mistake(
            "positions_subtracted",
            steps.but(first_input=lambda scaled, encodings: scaled - encodings),
            does="the positional encodings are subtracted",
        ),
        Mistake(
            "positions_multiplied",
            steps.but(first_input=lambda scaled, encodings: scaled * encodings),
            does="embeddings and positional encodings are multiplied",
        ),
        Mistake(
            "positions_of_the_batch",
            steps.but(length=lambda tokens: tokens.shape[0]),
            does="the rows of the table are counted by the size of the batch",
        ),
        Mistake(
            "positions_along_the_batch",
            steps.but(encodings=lambda encodings: encodings.unsqueeze(1)),
            steps.but(encodings=lambda self, tokens: self.positions[: tokens.shape[0], None]).attempt,
            does="the encodings are added along the batch, the same to every token of a sentence",
            says=(
                "The encodings are added along the batch: every token of a sentence would get the same one. Look at "
                "where the encodings have an axis of length 1."
            ),
            hints=["The embeddings have the shape (batch, n, d_model). Which shape have the encodings that are added?"],
        ),
        Mistake(
            "positions_of_the_width",
            steps.but(length=lambda width: width),
            does="the rows of the table are counted by d_model",
        ),
        Mistake(
            "columns_of_the_table",
            steps.but(encodings=lambda self, length: self.positions[:, :length]).attempt,
            says="The table is cut along its width: columns are taken instead of rows. Look at where the slice stands.",
            hints=["`self.positions` has the shape (max_length, d_model). Which axis is cut?", ROW_BY_ROW, SLICE],
        ),
        Mistake(
            "positions_called",
            steps.but(encodings=lambda self, tokens: self.positions(tokens)).attempt,
            says="`self.positions` is called as if it were a module. It is a table, with a row for each position.",
            hints=[
                "What does `__init__` put into `self.positions`?",
                "A table is indexed with square brackets. How many rows are needed?",
                "Add `self.positions[: tokens.shape[1]]` to the scaled embeddings.",
            ],
        ),
        Mistake(
            "all_positions",
            steps.but(encodings=lambda self: self.positions).attempt,
            says=(
                "The whole table of positions is added: max_length rows, to fewer tokens. Look at how many are needed."
            ),
            hints=[
                "Which shapes have the embeddings and the table?",
                "The first n rows are for the first n tokens.",
                SLICE,
            ],
        ),
        Mistake(
            "counted_from_elsewhere",
            steps.but(encodings=lambda self, length: self.positions[1 : length + 1]),
            steps.but(encodings=lambda self, length: self.positions[-length:]),
            does="the rows of `positions` that are taken do not begin at 0",
            says="The positions do not begin at 0, where the first token is. Look at which rows are taken.",
            hints=["Which row of the table does the first token get?"],
        ),
        Mistake(
            "one_position",
            steps.but(encodings=lambda self, length: self.positions[length]).attempt,
            steps.but(encodings=lambda self, length: self.positions[length - 1]),
            steps.but(encodings=lambda self: self.positions[0]).attempt,
            does="all tokens get the same row of `positions`",
            says=(
                "All tokens get the same row of the table, so that their positions cannot be told apart. Look at how "
                "the table is indexed."
            ),
            hints=["What is `table[3]`, and what is `table[:3]`?"],
        ),
        Mistake(
            "positions_by_token",
            steps.but(encodings=lambda self, tokens: self.positions[tokens]),
            does="the positions are looked up by token",
            says="{does}: wherever a token is, it gets the same one. Look at what the table is indexed with.",
            hints=["Which row does token 5 get at position 0, and which at position 3?"],
        ),
        Mistake(
            "normed_before_the_layers",
            steps.but(first_input=lambda first_input: _normed(first_input)),
            does="the sum of embeddings and encodings is normalised",
            says=(
                "The input of the first layer is normalised. Some models do so; here the layers have all the norms "
                "there are. Look at what is done before the first layer."
            ),
            hints=["What is done to the sum of embeddings and encodings?"],
        ),
        Mistake(
            "drops_in_training",
            steps.but(first_input=lambda self, first_input: F.dropout(first_input, 0.1, self.training)).attempt,
            says="While it trains, something is dropped at random. There is no dropout in this exercise.",
            hints=[
                "Which line is random?",
                "In training mode, two calls return two results.",
                "Leave the dropout out.",
            ],
        ),
    ]


def _normed(x: torch.Tensor) -> torch.Tensor:
    return F.layer_norm(x, x.shape[-1:])


def layer_mistakes(steps: InSteps, call: str) -> list[Mistake]:
    """Describe what goes wrong in the loop over the layers, and in what is returned.

    Args:
        steps: The answer.
        call: How a layer is called.
    """
    return [
        Mistake(
            "every_layer_reads_the_embeddings",
            steps.but(layer_input=lambda first_input: lambda number, previous: first_input),
            does="the last layer is given the embedded tokens, not the output of the layer before it",
            says=(
                "Only the last layer has an effect: every layer is given the embedded tokens, or the others are not "
                "called. Each should go on from the output of the one before. Look at what each layer is given."
            ),
            hints=["What does the second layer get as its x?"],
        ),
        Mistake(
            "only_the_first_layer",
            steps.but(output=lambda outputs: outputs[1]),
            does="the output of the first layer is returned",
            says="Only the first layer is used. Look at where the `return` is, and which layers are called.",
            hints=["How often does a loop run that contains a `return`?"],
        ),
        Mistake(
            "layers_left_out",
            steps.but(layers=lambda layers: layers[1:]),
            steps.but(layers=lambda layers: layers[:-1]),
            does="not all of the layers are called",
            hints=["With three layers, which of them are called?"],
        ),
        Mistake(
            "one_layer_again_and_again",
            steps.but(layers=lambda layers: [layers[0]] * len(layers)),
            steps.but(layers=lambda layers: [layers[-1]] * len(layers)).attempt,
            does="one of the layers is called again and again, and the others never",
            hints=["Which parameters get no gradient?"],
        ),
        Mistake(
            "no_layers",
            steps.but(output=lambda first_input: first_input),
            does="the embedded tokens are returned",
            says=(
                "The embedded tokens come out as they went into the first layer: no layer is called, or what the "
                "layers return is not what is returned."
            ),
            hints=["Which variable holds the output of the last layer, and which is returned?"],
        ),
        Mistake(
            "layers_backwards",
            steps.but(layers=lambda layers: layers[::-1]),
            does="the last layer comes first",
            says="The layers are called in the wrong order: the last one comes first. Look at the loop.",
            hints=["Which layer reads the embeddings?"],
        ),
        Mistake(
            "list_called",
            steps.but(outputs=lambda self, first_input: self.layers(first_input)).attempt,
            says="`self.layers` is called as if it were one module. It is a list, whose members are called one by one.",
            hints=[
                "What does `__init__` put into `self.layers`?",
                "An `nn.ModuleList` does not know what its members are to be given.",
                f"`for layer in self.layers:`, and in it `x = {call}`.",
            ],
        ),
        Mistake(
            "added_around_each_layer",
            steps.but(kept=lambda: lambda before, after: before + after),
            does="the output of each layer is added to its input",
            says=(
                "Around each layer there is one more residual connection. The layers have theirs inside. Look at what "
                "is done with the output of a layer."
            ),
            hints=["After a post-norm layer, what variance should a vector have? Which has it here?"],
        ),
        Mistake(
            "embeddings_in_every_layer",
            steps.but(
                layer_input=lambda first_input: lambda number, previous: previous + first_input if number else previous
            ),
            does="the embedded tokens are added again to the input of every layer",
            says="{does}. The residual connections inside the layers pass them on. Look at what each layer is given.",
            hints=["What is the input of the second layer made of?"],
        ),
        Mistake(
            "positions_in_every_layer",
            steps.but(
                layer_input=lambda encodings: lambda number, previous: previous + encodings if number else previous
            ),
            steps.but(layer_input=lambda encodings: lambda number, previous: previous + encodings).attempt,
            steps.but(kept=lambda encodings: lambda before, after: after + encodings),
            does="the positional encodings are added again in the loop over the layers",
            says=(
                "The positional encodings are added again in every layer. Some models do so; here it happens once, at "
                "the beginning. Look at what is inside the loop."
            ),
            hints=["How often are they added if there are three layers?"],
        ),
        Mistake(
            "one_more_norm",
            steps.but(output=lambda outputs: _normed(outputs[-1])),
            steps.but(kept=lambda: lambda before, after: _normed(after)),
            does="the output of a layer is normalised once more",
            says="{does}. Post-norm layers have normalised it already; pre-norm stacks need one norm at the end.",
            hints=["What does the last step of the last layer do?"],
        ),
        Mistake(
            "logits",
            steps.but(output=lambda self, outputs: outputs[-1] @ self.embedding.weight.T),
            steps.but(output=lambda self, outputs: torch.softmax(outputs[-1] @ self.embedding.weight.T, -1)).attempt,
            does="the output is turned into scores or probabilities of the vocabulary",
            says=(
                "The output is turned into scores for the vocabulary. That is the work of a layer after this stack; "
                "here the vectors themselves are asked for."
            ),
            hints=["Which shape comes out, and which is asked for?"],
        ),
        Mistake(
            "all_outputs",
            steps.but(output=lambda outputs: outputs[1:]),
            steps.but(output=lambda outputs: outputs).attempt,
            steps.but(output=lambda outputs: torch.stack(outputs[1:])).attempt,
            does="the outputs of all layers are returned",
            says="{does}. Asked for is that of the last one.",
            hints=["What do `type(...)` or the shape say of the result?"],
        ),
        Mistake(
            "outputs_added",
            steps.but(output=lambda outputs: sum(outputs[1:])),
            steps.but(output=lambda outputs: sum(outputs[1:]) / len(outputs[1:])).attempt,
            steps.but(output=lambda outputs: sum(outputs)).attempt,
            does="the outputs of all layers are added up",
            says="{does}, or averaged. Asked for is that of the last one.",
            hints=["With one layer nothing is wrong, or the embeddings come in again. With two?"],
        ),
        Mistake(
            "one_vector_for_each_sentence",
            steps.but(output=lambda outputs: outputs[-1].mean(1)),
            steps.but(output=lambda outputs: outputs[-1][:, -1]).attempt,
            steps.but(output=lambda outputs: outputs[-1][:, 0]).attempt,
            does="one vector for each sentence is returned",
            says="There is one vector for each sentence. Asked for is one for each token.",
            hints=["Which shape comes out, and which is asked for?"],
        ),
    ]


def mask_mistakes(steps: InSteps, step: str, mask: str) -> list[Mistake]:
    """Describe what goes wrong with a mask on its way to the layers.

    Args:
        steps: The answer.
        step: The step that returns the mask of each layer.
        mask: The name of the argument.
    """

    def but(change: Callable[..., Any], *others: str) -> Any:
        return steps.but(**{step: asking(change, step, *others)})

    return [
        Mistake(
            f"{mask}_forgotten",
            but(lambda of_layer: lambda number: None),
            does=f"`{mask}` is not handed to the layers, or not always",
            says=f"The layers are not given `{mask}`: they attend to what it hides. Look at what they are given.",
            hints=[f"Change a token that `{mask}` hides. Does anything change?"],
        ),
        Mistake(
            f"{mask}_in_one_layer",
            but(lambda of_layer: lambda number: of_layer(number) if number == 0 else None),
            but(lambda of_layer: lambda number: of_layer(number) if number else None).attempt,
            but(
                lambda of_layer, layers: lambda number: of_layer(number) if number == len(layers) - 1 else None,
                "layers",
            ).attempt,
            does=f"only some of the layers are given `{mask}`",
            hints=[f"With three layers, which of them use `{mask}`?"],
        ),
        Mistake(
            f"{mask}_inverted",
            but(lambda of_layer: lambda number: None if of_layer(number) is None else ~of_layer(number)),
            does=f"`{mask}` is inverted",
            says=f"Read the wrong way round: `{mask}` is inverted. True means *may attend to*, for the layers as well.",
            hints=["Which meaning has True in this course, and which in `nn.MultiheadAttention`?"],
        ),
        Mistake(
            f"{mask}_of_the_first_sentence",
            but(lambda of_layer: lambda number: _of_the_first_sentence(of_layer(number))),
            does=f"all sentences of the batch get `{mask}` of the first",
            says=f"All sentences of the batch get `{mask}` of the first one. Look at how it is indexed.",
            hints=["Which axis of a mask counts the sentences?"],
        ),
        Mistake(
            f"{mask}_only_in_one_mode",
            but(lambda of_layer, self: lambda number: of_layer(number) if self.training else None, "self"),
            but(lambda of_layer, self: lambda number: None if self.training else of_layer(number), "self").attempt,
            does=f"`{mask}` is used in only one of `train()` and `eval()`",
            says=(
                f"`{mask}` is used in only one of the two modes, `train()` and `eval()`. What may be attended to is "
                "the same in both."
            ),
            hints=["Does the output change between `train()` and `eval()`? Nothing here is random."],
        ),
    ]


def own_mask_mistake(steps: InSteps, whose: str) -> Mistake:
    """Describe masks that nobody has asked for."""
    return Mistake(
        "a_mask_of_its_own",
        steps.but(layer_mask=lambda tokens: lambda number: _causal(tokens)),
        steps.but(layer_mask=lambda mask, tokens: lambda number: _causal(tokens) if mask is None else mask),
        steps.but(
            layer_mask=lambda mask, tokens: lambda number: _causal(tokens) & (mask if mask is not None else True)
        ).attempt,
        steps.but(
            layer_mask=lambda mask, tokens: lambda number: (tokens != 0)[:, None, None] if mask is None else mask
        ).attempt,
        steps.but(layer_mask=lambda tokens: lambda number: (tokens != 0)[:, None, None]).attempt,
        does=f"the {whose} makes a mask of its own",
        says=(
            "{does}. The caller says what may be attended to, and without a mask everything may. Look at where the "
            "mask comes from."
        ),
        hints=["What should happen if `mask` is None?"],
    )


def _causal(tokens: torch.Tensor) -> torch.Tensor:
    return torch.ones(tokens.shape[1], tokens.shape[1]).tril().bool()


def _of_the_first_sentence(mask: torch.Tensor | None) -> torch.Tensor | None:
    return mask if mask is None or mask.dim() < 3 else mask[:1]


def constructor_mistakes(steps: InSteps) -> list[Mistake]:
    """Describe what goes wrong in ``__init__``: whole answers, as no step is changed."""
    reference: Any = steps.reference

    class OneLayerManyTimes(reference):
        layers: Any

        def __init__(self, **sizes: int) -> None:
            super().__init__(**sizes)
            self.layers = nn.ModuleList([self.layers[0]] * len(self.layers))

    class PlainListOfLayers(reference):
        layers: Any

        def __init__(self, **sizes: int) -> None:
            super().__init__(**sizes)
            layers = list(self.layers)
            del self.layers
            self.layers = layers

    class PositionsTrained(reference):
        positions: Any

        def __init__(self, **sizes: int) -> None:
            super().__init__(**sizes)
            table = self.positions
            del self.positions
            self.positions = nn.Parameter(table)

    return [
        Mistake(
            "one_layer_many_times",
            OneLayerManyTimes,
            says=(
                "All the layers are one and the same: the list holds a single layer several times. Look at `__init__`, "
                "and count the parameters."
            ),
            hints=[
                "`__init__` was right as it was given.",
                "In Python, `[thing] * 3` does not copy the thing.",
                "A comprehension makes a new layer each time: `for _ in range(n_layers)`.",
            ],
        ),
        Mistake(
            "plain_list_of_layers",
            PlainListOfLayers,
            says=(
                "The layers are in a plain Python list, where torch does not find them: their parameters would be "
                "neither trained nor saved. Look at `__init__`."
            ),
            hints=[
                "`__init__` was right as it was given.",
                "Count the parameters of the model. Which are missing?",
                "`nn.ModuleList` tells torch that these are part of the model.",
            ],
        ),
        Mistake(
            "positions_trained",
            PositionsTrained,
            says=(
                "The positions are a parameter, so that training would change them. Sinusoids stay as they are. Look "
                "at `__init__`."
            ),
            hints=[
                "`__init__` was right as it was given.",
                "What is part of a model and not trained is called a buffer.",
                "`register_buffer`.",
            ],
        ),
    ]
