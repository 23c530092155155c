"""Mistakes in how layers are stacked, and in what comes out."""

import math

import torch
from torch import nn

from transformer_lab.course.exercise import Mistake
from transformer_lab.course.exercises.lesson_07_decoder.decoder.mistake_template import InPieces
from transformer_lab.course.exercises.shared.layer_stack_mistakes import layers_backwards


class EveryLayerReadsTheEmbeddings(InPieces):
    def forward(self, tokens, memory, mask=None, memory_mask=None):
        x = self.begin(tokens)
        for layer in self.layers:
            y = layer(x, memory, mask, memory_mask)
        return y


class EveryLayerReadsTheEmbeddingsAndAllAreAdded(InPieces):
    def forward(self, tokens, memory, mask=None, memory_mask=None):
        x = self.begin(tokens)
        return sum(layer(x, memory, mask, memory_mask) for layer in self.layers)


class ReturnsInsideTheLoop(InPieces):
    def forward(self, tokens, memory, mask=None, memory_mask=None):
        x = self.begin(tokens)
        for layer in self.layers:
            x = layer(x, memory, mask, memory_mask)
            return x


class TheFirstLayerAgainAndAgain(InPieces):
    def forward(self, tokens, memory, mask=None, memory_mask=None):
        x = self.begin(tokens)
        for _ in self.layers:
            x = self.layers[0](x, memory, mask, memory_mask)
        return x


class NoLayers(InPieces):
    def forward(self, tokens, memory, mask=None, memory_mask=None):
        return self.begin(tokens)


class TheListCalled(InPieces):
    def forward(self, tokens, memory, mask=None, memory_mask=None):
        return self.layers(self.begin(tokens), memory, mask, memory_mask)


class LayersBackwards(InPieces):
    def forward(self, tokens, memory, mask=None, memory_mask=None):
        x = self.begin(tokens)
        for layer in reversed(self.layers):
            x = layer(x, memory, mask, memory_mask)
        return x


class AddedAroundEachLayer(InPieces):
    def step(self, layer, x, memory, mask, memory_mask):
        return x + layer(x, memory, mask, memory_mask)


class PositionsInEveryLayer(InPieces):
    def begin(self, tokens):
        return self.embedding(tokens) * math.sqrt(self.embedding.embedding_dim)

    def step(self, layer, x, memory, mask, memory_mask):
        return layer(x + self.positions[: x.shape[1]], memory, mask, memory_mask)


class PositionsInEveryLayerToo(InPieces):
    def forward(self, tokens, memory, mask=None, memory_mask=None):
        x = self.begin(tokens)
        for layer in self.layers:
            x = layer(x, memory, mask, memory_mask) + self.positions[: tokens.shape[1]]
        return x


class Logits(InPieces):
    def forward(self, tokens, memory, mask=None, memory_mask=None):
        return super().forward(tokens, memory, mask, memory_mask) @ self.embedding.weight.T


class Probabilities(InPieces):
    def forward(self, tokens, memory, mask=None, memory_mask=None):
        return torch.softmax(super().forward(tokens, memory, mask, memory_mask) @ self.embedding.weight.T, dim=-1)


class AListOfAllLayers(InPieces):
    def forward(self, tokens, memory, mask=None, memory_mask=None):
        x, outputs = self.begin(tokens), []
        for layer in self.layers:
            x = layer(x, memory, mask, memory_mask)
            outputs.append(x)
        return outputs


class OneLayerManyTimes(InPieces):
    def __init__(self, vocab_size, d_model, n_heads, d_ff, n_layers, max_length):
        super().__init__(vocab_size, d_model, n_heads, d_ff, n_layers, max_length)
        self.layers = nn.ModuleList([self.layers[0]] * n_layers)


class LayersInAList(InPieces):
    def __init__(self, vocab_size, d_model, n_heads, d_ff, n_layers, max_length):
        super().__init__(vocab_size, d_model, n_heads, d_ff, n_layers, max_length)
        layers = list(self.layers)
        del self.layers
        self.layers = layers  # type: ignore[assignment]


MISTAKES = [
    Mistake(
        "every_layer_reads_the_embeddings",
        [EveryLayerReadsTheEmbeddings, EveryLayerReadsTheEmbeddingsAndAllAreAdded],
        says=(
            "Every layer is given the embeddings, and what the layers before have found is thrown away. Each should go on "
            "from the one before. Look at what is assigned in the loop."
        ),
        hints=[
            "What does the second layer get as its x?",
            "After the loop, which layers had a say in the result?",
            "The result of each layer is called `x` again.",
        ],
    ),
    Mistake(
        "returns_inside_the_loop",
        [ReturnsInsideTheLoop],
        says=(
            "Only the first layer is used, as the loop is left after it. With a single layer that is right. Look at where "
            "the `return` stands."
        ),
        hints=[
            "How often does the loop run, if it contains a `return`?",
            "Which column should the `return` begin in?",
            "Behind the loop, at the level of the `for`.",
        ],
    ),
    Mistake(
        "the_first_layer_again_and_again",
        [TheFirstLayerAgainAndAgain],
        says="Not every layer is used once: the first one does all the work.",
        hints=[
            "With three layers, which of them are called, and how often?",
            "`for layer in self.layers:` gives one after the other.",
            "`x = layer(x, memory, mask, memory_mask)` inside the loop.",
        ],
    ),
    Mistake(
        "no_layers",
        [NoLayers],
        says="The embeddings come out as they went in: no layer is called, or what the layers give is not what is returned.",
        hints=[
            "Which variable holds what the last layer gave, and which is returned?",
            "`for layer in self.layers:` gives one after the other.",
            "`x = layer(x, memory, mask, memory_mask)` inside the loop, and `x` returned behind it.",
        ],
    ),
    Mistake(
        "the_list_called",
        [TheListCalled],
        says="`self.layers` is called as if it were one module. It is a list, whose members are called one after the other.",
        hints=[
            "What does `__init__` put into `self.layers`?",
            "An `nn.ModuleList` does not know what its members are to be given.",
            "`for layer in self.layers:`, and in it `x = layer(x, memory, mask, memory_mask)`.",
        ],
    ),
    layers_backwards(LayersBackwards),
    Mistake(
        "added_around_each_layer",
        [AddedAroundEachLayer],
        says=(
            "Around each layer there is one more residual connection. The layer has its own three inside. Look at the "
            "loop."
        ),
        hints=[
            "What does a layer return: what it found, or x with what it found?",
            "Is there a `x +` in the loop?",
            "`x = layer(x, memory, mask, memory_mask)`.",
        ],
    ),
    Mistake(
        "positions_in_every_layer",
        [PositionsInEveryLayer, PositionsInEveryLayerToo],
        says=(
            "The positions are added again in every layer. Once is enough: the residual connections carry them on. Look "
            "at what stands inside the loop."
        ),
        hints=[
            "How often are the positions added if there are three layers?",
            "The embeddings and the positions make the x of the first layer.",
            "Add them before the loop.",
        ],
    ),
    Mistake(
        "logits",
        [Logits, Probabilities],
        says=(
            "The output is turned into scores for the vocabulary. That is the work of the layer behind the decoder; here "
            "the vectors themselves are asked for."
        ),
        hints=[
            "Which shape comes out, and which is asked for?",
            "What comes after the last layer?",
            "Return what the last layer gave.",
        ],
    ),
    Mistake(
        "a_list_of_all_layers",
        [AListOfAllLayers],
        says="The outputs of all layers are returned. Asked for is that of the last one.",
        hints=[
            "What does `type(...)` say of the result?",
            "What the layers in between give is used by the next layer only.",
            "Return `x` after the loop.",
        ],
    ),
    Mistake(
        "one_layer_many_times",
        [OneLayerManyTimes],
        says=(
            "The list holds the same layer several times: they share one set of parameters. Look at how the layers are "
            "made."
        ),
        hints=[
            "With 3 layers, how many parameters are there?",
            "`[layer] * 3` copies nothing.",
            "A comprehension makes a new one each time: `for _ in range(n_layers)`.",
        ],
    ),
    Mistake(
        "layers_in_a_list",
        [LayersInAList],
        says=(
            "The layers are kept in a plain list, where torch does not find their parameters: they would never be "
            "trained. Look at `__init__`."
        ),
        hints=[
            "What does `list(decoder.parameters())` hold?",
            "`__init__` was right as it was given.",
            "`nn.ModuleList` is a list that torch looks into.",
        ],
    ),
]
