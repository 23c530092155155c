"""What goes wrong when layers are stacked."""

from torch.nn import functional as F

from transformer_lab.course.exercise import Mistake
from transformer_lab.course.exercises.lesson_06_encoder.encoder.mistake_template import InPieces
from transformer_lab.course.exercises.shared.layer_stack_mistakes import layers_backwards


class PositionsInEveryLayer(InPieces):
    def through(self, x, mask):
        for number, layer in enumerate(self.layers):
            x = layer(x + self.positions[: x.shape[1]] if number else x, mask)
        return x


class MaskIgnored(InPieces):
    def through(self, x, mask):
        return super().through(x, None)


class MaskOnlyInTheFirstLayer(InPieces):
    def through(self, x, mask):
        for layer in self.layers:
            x, mask = layer(x, mask), None
        return x


class EveryLayerReadsTheEmbeddings(InPieces):
    def through(self, x, mask):
        for layer in self.layers:
            output = layer(x, mask)
        return output


class ReturnsInsideTheLoop(InPieces):
    def through(self, x, mask):
        for layer in self.layers:
            x = layer(x, mask)
            return x


class ResultThrownAway(InPieces):
    def through(self, x, mask):
        for layer in self.layers:
            layer(x, mask)
        return x


class FirstLayerAgainAndAgain(InPieces):
    def through(self, x, mask):
        for _ in self.layers:
            x = self.layers[0](x, mask)
        return x


class LayersBackwards(InPieces):
    def through(self, x, mask):
        for layer in reversed(self.layers):
            x = layer(x, mask)
        return x


class LayersAddedToTheirInput(InPieces):
    def through(self, x, mask):
        for layer in self.layers:
            x = x + layer(x, mask)
        return x


class ListOfLayersCalled(InPieces):
    def through(self, x, mask):
        return self.layers(x, mask)


class OneMoreNorm(InPieces):
    def through(self, x, mask):
        return F.layer_norm(super().through(x, mask), x.shape[-1:])


MISTAKES = [
    Mistake(
        "positions_in_every_layer",
        [PositionsInEveryLayer],
        says=(
            "The positions are added again in front of every layer. Some models do so; here it happens once, at the "
            "beginning."
        ),
        hints=[
            "Which lines stand inside the loop?",
            "The layers hand positions on by themselves: that is what residuals are good for.",
            "Add the positions before the loop.",
        ],
    ),
    Mistake(
        "mask_ignored",
        [MaskIgnored, MaskOnlyInTheFirstLayer],
        says="The mask does not get to every layer: positions look at padding. Look at what the layers are given.",
        hints=[
            "Change a token that the mask hides. Does anything change?",
            "Each layer takes x and the mask.",
            "`layer(x, mask)`.",
        ],
    ),
    Mistake(
        "every_layer_reads_the_embeddings",
        [EveryLayerReadsTheEmbeddings],
        says=(
            "Every layer reads the embeddings, and only what the last one says is kept. Each should read what the one "
            "before it gave. Look at the loop."
        ),
        hints=[
            "Does the first of two layers have any effect?",
            "What a layer gives is what the next one is given.",
            "`x = layer(x, mask)`.",
        ],
    ),
    Mistake(
        "returns_inside_the_loop",
        [ReturnsInsideTheLoop],
        says="Only the first layer has an effect: the rest is never reached. Look at how far `return` is indented.",
        hints=[
            "How often does the loop run?",
            "`return` ends the function at once.",
            "Put it behind the loop.",
        ],
    ),
    Mistake(
        "result_thrown_away",
        [ResultThrownAway],
        says=(
            "The layers are called, and what they give is thrown away. Modules do not change their input; they give a new "
            "tensor."
        ),
        hints=[
            "Is x after the loop another one than before?",
            "Give what the layer returns a name.",
            "`x = layer(x, mask)`.",
        ],
    ),
    Mistake(
        "first_layer_again_and_again",
        [FirstLayerAgainAndAgain],
        says="The first layer is run again and again, and the others never.",
        hints=[
            "Which parameters get no gradient?",
            "The loop goes through the layers; what does it do with each?",
            "`for layer in self.layers:` and then use `layer`.",
        ],
    ),
    layers_backwards(LayersBackwards),
    Mistake(
        "layers_added_to_their_input",
        [LayersAddedToTheirInput],
        says="What a layer gives is added to what it was given. The residuals are inside the layers already.",
        hints=[
            "After a post-norm layer, what variance should a vector have? Which has it here?",
            "The loop does nothing but hand x from layer to layer.",
            "`x = layer(x, mask)`.",
        ],
    ),
    Mistake(
        "list_of_layers_called",
        [ListOfLayersCalled],
        says="A `ModuleList` holds modules; it cannot be called. Each layer has to be called in turn.",
        hints=[
            "What does `for layer in self.layers:` give?",
            "What the first layer gives is what the second one is given.",
            "`x = layer(x, mask)`, in a loop.",
        ],
    ),
    Mistake(
        "one_more_norm",
        [OneMoreNorm],
        says="The output is normed once more. Post-norm layers have normed it already; pre-norm stacks need one at the end.",
        hints=[
            "What does the last step of the last layer do?",
            "Nothing is done after the loop.",
            "Return x as the last layer left it.",
        ],
    ),
]
