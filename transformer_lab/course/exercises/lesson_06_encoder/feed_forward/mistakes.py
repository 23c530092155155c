"""What goes wrong in two linear layers with a ReLU between them."""

import torch
from torch.nn import functional as F

from transformer_lab.course.exercise import Mistake
from transformer_lab.course.exercises.lesson_06_encoder.shared.reference_pieces import FeedForward


class WithoutRelu(FeedForward):
    def forward(self, x):
        return self.w_2(self.w_1(x))


class ReluAtTheEnd(FeedForward):
    def forward(self, x):
        return torch.relu(self.w_2(self.w_1(x)))


class ReluTwice(FeedForward):
    def forward(self, x):
        return torch.relu(self.w_2(torch.relu(self.w_1(x))))


class ReluFirst(FeedForward):
    def forward(self, x):
        return self.w_2(self.w_1(torch.relu(x)))


class GeluInstead(FeedForward):
    def forward(self, x):
        return self.w_2(F.gelu(self.w_1(x)))


class SiluInstead(FeedForward):
    def forward(self, x):
        return self.w_2(F.silu(self.w_1(x)))


class LeakyReluInstead(FeedForward):
    def forward(self, x):
        return self.w_2(F.leaky_relu(self.w_1(x)))


class TanhInstead(FeedForward):
    def forward(self, x):
        return self.w_2(torch.tanh(self.w_1(x)))


class SigmoidInstead(FeedForward):
    def forward(self, x):
        return self.w_2(torch.sigmoid(self.w_1(x)))


class SoftmaxInstead(FeedForward):
    def forward(self, x):
        return self.w_2(torch.softmax(self.w_1(x), dim=-1))


class LargestOfAll(FeedForward):
    def forward(self, x):
        return self.w_2(max(0, self.w_1(x)))


class LargestOfAllByTorch(FeedForward):
    def forward(self, x):
        return self.w_2(torch.max(0, self.w_1(x)))  # type: ignore[call-overload]


class LayersSwapped(FeedForward):
    def forward(self, x):
        return self.w_1(torch.relu(self.w_2(x)))


class AddsTheInput(FeedForward):
    def forward(self, x):
        return x + self.w_2(torch.relu(self.w_1(x)))


class SecondBiasForgotten(FeedForward):
    def forward(self, x):
        return torch.relu(self.w_1(x)) @ self.w_2.weight.T


class BothBiasesForgotten(FeedForward):
    def forward(self, x):
        return torch.relu(x @ self.w_1.weight.T) @ self.w_2.weight.T


class WeightsNotTransposed(FeedForward):
    def forward(self, x):
        return torch.relu(x @ self.w_1.weight + self.w_1.bias) @ self.w_2.weight + self.w_2.bias


class LayerCalledByItsWeight(FeedForward):
    def forward(self, x):
        return self.w_2 @ torch.relu(self.w_1 @ x)  # type: ignore[operator]


class DropoutInEval(FeedForward):
    def forward(self, x):
        return self.w_2(F.dropout(torch.relu(self.w_1(x)), 0.5))


class DropoutInTraining(FeedForward):
    def forward(self, x):
        return self.w_2(F.dropout(torch.relu(self.w_1(x)), 0.5, self.training))


class CutsTheGradient(FeedForward):
    def forward(self, x):
        return self.w_2(torch.relu(self.w_1(x)).detach())


MISTAKES = [
    Mistake(
        "without_relu",
        [WithoutRelu],
        says=(
            "Nothing stands between the two layers, so together they are one linear layer, and a narrow one would do. "
            "A step is missing."
        ),
        hints=[
            "Does `f(a + b) + f(0)` equal `f(a) + f(b)`? For a network it should not.",
            "What is done with the negative numbers in the middle?",
            "`torch.relu(self.w_1(x))`.",
        ],
    ),
    Mistake(
        "relu_at_the_end",
        [ReluAtTheEnd, ReluTwice],
        says=(
            "A ReLU comes after the second layer, so that the network can only add and never take away. Look at the order "
            "of the steps, and how many there are."
        ),
        hints=[
            "Is there a negative number in the output? There should be.",
            "The ReLU belongs in the middle, where the vectors are d_ff wide.",
            "Apply it to the output of `w_1`, and to nothing else.",
        ],
    ),
    Mistake(
        "relu_first",
        [ReluFirst],
        says=(
            "The ReLU is applied to x itself, and then nothing stands between the two layers. Look at the order of the "
            "steps."
        ),
        hints=[
            "How wide are the vectors that the ReLU gets? They should be d_ff wide.",
            "It stands between the layers.",
            "Apply it to the output of `w_1`.",
        ],
    ),
    Mistake(
        "gelu_instead",
        [GeluInstead, SiluInstead, LeakyReluInstead, TanhInstead, SigmoidInstead, SoftmaxInstead],
        says=(
            "Another function than a ReLU stands in the middle. Many models since the Transformer have other ones; the "
            "paper of 2017 has a ReLU. Look at what becomes of the negative numbers."
        ),
        hints=[
            "What should become of −3 in the middle, and what of 3?",
            "Negative numbers become 0, positive ones stay as they are.",
            "`torch.relu`.",
        ],
    ),
    Mistake(
        "largest_of_all",
        [LargestOfAll, LargestOfAllByTorch],
        says=(
            "The formula's max is meant number by number. `max(0, z)` asks Python which of two things is the larger, and "
            "for a whole tensor there is no answer."
        ),
        hints=[
            "What should max(0, z) make of the tensor (−1, 2, −3)?",
            "0, 2, 0: each number by itself. torch has a function for it.",
            "`torch.relu(z)`, or `z.clamp(min=0)`.",
        ],
    ),
    Mistake(
        "layers_swapped",
        [LayersSwapped, WeightsNotTransposed],
        says=(
            "The sizes do not fit: the second layer is called first, or the weights of a layer are used as a matrix. A "
            "`nn.Linear` keeps them as (outputs, inputs), and knows by itself how to use them."
        ),
        hints=[
            "How wide are the vectors that `w_1` takes, and how wide are those it gives?",
            "`nn.Linear(a, b)` turns width a into width b. A layer is called like a function, and then does all it has "
            "to.",
            "x goes through `w_1` first: `self.w_1(x)`.",
        ],
    ),
    Mistake(
        "adds_the_input",
        [AddsTheInput],
        says=(
            "The input is added to the result. That is the residual connection, and it is the business of the layer "
            "around this network."
        ),
        hints=[
            "With all parameters 0, what should come out?",
            "The formula has no x outside of the brackets.",
            "Leave out the addition.",
        ],
    ),
    Mistake(
        "second_bias_forgotten",
        [SecondBiasForgotten, BothBiasesForgotten],
        says="The weights of a layer are used without its bias.",
        hints=[
            "With all weights 0, what should come out?",
            "A layer is called like a function, and then does all it has to.",
            "`self.w_1(x)` multiplies by the weights and adds the bias.",
        ],
    ),
    Mistake(
        "layer_called_by_its_weight",
        [LayerCalledByItsWeight],
        says="A layer is no matrix, so `@` cannot be used with it.",
        hints=[
            "How were the layers `w_q` and `w_k` of lesson 03 used?",
            "A module is called like a function.",
            "`self.w_1(x)`.",
        ],
    ),
    Mistake(
        "dropout_in_eval",
        [DropoutInEval],
        says="Some numbers are dropped at random, even after `eval()`. Here is no dropout at all.",
        hints=[
            "Call it twice with the same x. What differs?",
            "`F.dropout(x, p)` always drops; it does not know of `eval()`.",
            "Leave it out.",
        ],
    ),
    Mistake(
        "dropout_in_training",
        [DropoutInTraining],
        says="While training, some numbers are dropped at random. In these exercises there is no dropout.",
        hints=[
            "What differs between `train()` and `eval()`?",
            "Two layers and a ReLU: nothing in the formula is random.",
            "Leave the dropout out.",
        ],
    ),
    Mistake(
        "cuts_the_gradient",
        [CutsTheGradient],
        says="The numbers are right, but no gradient reaches the first layer: something cuts it off.",
        hints=[
            "After `output.sum().backward()`, which `.grad` is None?",
            "`detach`, `.data`, `.item()` and `.numpy()` cut.",
            "Leave `detach` out.",
        ],
    ),
]
