"""Correct but unusual answers to the exercises of lesson 06."""

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from transformer_course.exercises import every_exercise
from transformer_course.lesson import notebook
from transformer_lab.layers import encoder_layer, feed_forward, norms
from transformer_lab.models import encoder

EncoderLayer = every_exercise()["EncoderLayer"].reference
PreNormEncoderLayer = every_exercise()["PreNormEncoderLayer"].reference
Encoder = every_exercise()["Encoder"].reference


def vector_by_vector(x, weight, bias, eps=1e-5):
    normed = torch.empty_like(x)
    for at in np.ndindex(x.shape[:-1]):
        vector = x[at]
        centered = vector - sum(vector) / len(vector)
        normed[at] = weight * centered / (centered @ centered / len(vector) + eps) ** 0.5 + bias
    return normed


def by_moments(x, weight, bias, eps=1e-5):
    """Compute the variance as the mean of squares minus the squared mean."""
    x = x.double()
    mean, of_squares = x.mean(-1, keepdim=True), x.square().mean(-1, keepdim=True)
    return ((x - mean) * (of_squares - mean**2 + eps).rsqrt() * weight + bias).float()


class OneByOne(nn.Module):
    """A feed-forward network with its layers defined in reverse order and without ``torch.relu``."""

    def __init__(self, d_model, d_ff):
        super().__init__()
        self.w_2 = nn.Linear(d_ff, d_model)
        self.w_1 = nn.Linear(d_model, d_ff)

    def forward(self, x):
        return F.linear(F.linear(x, self.w_1.weight, self.w_1.bias).clamp_min(0), self.w_2.weight) + self.w_2.bias


class MaskedByHand(OneByOne):
    def forward(self, x):
        z = self.w_1(x)
        return self.w_2(z * (z > 0))


class StepByStep(EncoderLayer):
    def forward(self, x, mask=None):
        residual = x
        attended = self.self_attention(query=x, key=x, value=x, mask=mask)
        attended += residual  # modifies only its own tensor
        x = self.norm_1(attended)
        return self.norm_2(torch.add(self.feed_forward(x), x))


class WithTheLessonsNorm(EncoderLayer):
    def normed(self, norm, x):
        return notebook.parts.layer_norm(x, norm.weight, norm.bias, norm.eps)

    def forward(self, x, mask=None):
        x = self.normed(self.norm_1, x + self.self_attention(x, x, x, mask))
        return self.normed(self.norm_2, x + self.feed_forward(x))


class PreNormInALoop(PreNormEncoderLayer):
    def forward(self, x, mask=None):
        for norm, sublayer in [(self.norm_1, self.attend), (self.norm_2, self.feed_forward)]:
            self.mask = mask
            x = x + sublayer(norm(x))
        return x

    def attend(self, x):
        return self.self_attention(x, x, x, self.mask)


class PreNormInPlace(PreNormEncoderLayer):
    """Modifies only tensors that it created and that no gradient needs any more."""

    def forward(self, x, mask=None):
        attended = self.self_attention(self.norm_1(x), self.norm_1(x), self.norm_1(x), mask)
        attended += x
        computed = self.feed_forward(self.norm_2(attended))
        computed += attended
        return computed


class EncoderByOneHot(Encoder):
    def forward(self, tokens, mask=None):
        vectors = F.one_hot(tokens, self.embedding.num_embeddings).float() @ self.embedding.weight
        vectors *= vectors.size(-1) ** 0.5
        vectors += self.positions[torch.arange(tokens.size(1))]
        for i in range(len(self.layers)):
            vectors = self.layers[i](vectors, mask)
        return vectors


class EncoderByRecursion(Encoder):
    def forward(self, tokens, mask=None):
        table = notebook.parts.sinusoidal_encoding(tokens.shape[1], self.embedding.weight.shape[1])
        x = self.embedding(tokens) * self.embedding.weight.shape[1] ** 0.5 + table.unsqueeze(0)
        return self.through(x, mask, list(self.layers))

    def through(self, x, mask, layers):
        return self.through(layers[0](x, mask), mask, layers[1:]) if layers else x


def stream_by_its_derivative(layer, x):
    _, along = torch.autograd.functional.jvp(layer, 1e4 * x, x)  # how the output changes with the scale of x
    return bool((along - x).abs().max() < 0.05)


def stream_by_what_is_left(layer, x):
    left = layer(-1e5 * x) + 1e5 * x
    return left.square().mean().sqrt().item() < 1e4


UNUSUAL = {
    "layer_norm": {
        "torch's": lambda x, weight, bias, eps=1e-5: F.layer_norm(x, x.shape[-1:], weight, bias, eps),
        "the library's": norms.layer_norm,
        "vector by vector": vector_by_vector,
        "moments": by_moments,
        "var": lambda x, weight, bias, eps=1e-5: (
            (x - x.mean(-1, True)) / (x.var(-1, correction=0, keepdim=True) + eps).sqrt() * weight + bias
        ),
        "the unbiased variance mended": lambda x, weight, bias, eps=1e-5: (
            (x - x.mean(-1, True)) / (x.var(-1, keepdim=True) * (x.shape[-1] - 1) / x.shape[-1] + eps) ** 0.5 * weight
            + bias
        ),
    },
    "FeedForward": {
        "functional": OneByOne,
        "a mask by hand": MaskedByHand,
        "the library's": feed_forward.FeedForward,
    },
    "EncoderLayer": {
        "step by step": StepByStep,
        "the lesson's norm": WithTheLessonsNorm,
        "the library's": encoder_layer.EncoderLayer,
    },
    "PreNormEncoderLayer": {
        "a loop": PreNormInALoop,
        "in place": PreNormInPlace,
        "the library's": encoder_layer.PreNormEncoderLayer,
    },
    "Encoder": {
        "one-hot vectors": EncoderByOneHot,
        "recursion": EncoderByRecursion,
        "the library's": encoder.Encoder,
    },
    "keeps_the_stream": {
        "derivative": stream_by_its_derivative,
        "what is left": stream_by_what_is_left,
        "a shift, which a norm takes out as well": lambda layer, x: torch.allclose(
            layer(x + 1000) - 1000, layer(x), atol=0.1
        ),
    },
}
