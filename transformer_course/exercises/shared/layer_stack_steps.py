"""The steps that an encoder and a decoder share: tokens become vectors, which pass through the layers in turn."""

import math


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
