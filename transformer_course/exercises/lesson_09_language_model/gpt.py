"""A decoder-only language model."""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared import layer_stack as stack
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.exercises.shared.draw_layers import drawn_tokens, stack_parameters
from transformer_course.exercises.shared.library_parts import parts
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


class GPT(nn.Module):
    """Return the logits of the next token at every position."""

    def __init__(
        self, vocab_size: int, d_model: int = 64, n_heads: int = 4, n_layers: int = 2, context_length: int = 64
    ) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.positions = nn.Parameter(torch.zeros(context_length, d_model))
        blocks = (parts.PreNormEncoderLayer(d_model, n_heads, 4 * d_model) for _ in range(n_layers))
        self.blocks, self.norm = nn.ModuleList(blocks), nn.LayerNorm(d_model)

    def forward(self, tokens: Int[Tensor, "batch n"]) -> Float[Tensor, "batch n vocab_size"]:
        n = tokens.shape[1]
        x, mask = self.embedding(tokens) + self.positions[:n], parts.causal_mask(n)
        for block in self.blocks:
            x = block(x, mask)
        return self.norm(x) @ self.embedding.weight.T


def first_input(embedded, encodings):
    """add the positions to the embeddings → the input of the first block: embeddings plus positions"""
    return embedded + encodings


def layers(self):
    """use the blocks in their order → the list of blocks"""
    return list(self.blocks)


def mask(length):
    """create a causal mask for the tokens → the causal mask"""
    return parts.causal_mask(length)


def normed(self, output):
    """normalize the output of the last block → the normalized output"""
    return self.norm(output)


def logits(self, normed):
    """multiply by the embedding of each token → the logits"""
    return normed @ self.embedding.weight.T


STEPS = InSteps(
    stack.embedded, stack.length, stack.encodings, first_input, layers, stack.layer_input, mask, stack.layer_mask,
    stack.layer_output, stack.kept, stack.outputs, stack.output, normed, logits, reference=GPT
)  # fmt: skip


def gpt_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(shows: str, sizes: tuple[int, ...], *calls: tuple[int, int]) -> Case:
        names = ("vocab_size", "d_model", "n_heads", "n_layers", "context_length")
        vocab_size, d_model, _, n_layers, length = sizes
        parameters = stack_parameters(rng, d_model, 4 * d_model, n_layers, "blocks")
        parameters |= {"embedding.weight": normal(rng, vocab_size, d_model), "positions": normal(rng, length, d_model)}
        parameters |= {"norm.weight": 0.5 + normal(rng, d_model).abs(), "norm.bias": normal(rng, d_model)}
        first, *later = [{"tokens": drawn_tokens(rng, vocab_size, *call)} for call in calls]
        arguments = dict(zip(names, sizes, strict=True))
        return Case(first, shows, kind="module", arguments=arguments, parameters=parameters, later=later)

    return [
        case("one text of 3 tokens, one block", (5, 4, 1, 1, 7), (1, 3)),
        case("2 texts of 3 tokens, 2 blocks", (7, 6, 2, 2, 11), (2, 3), (2, 3), (3, 5)),
        case("texts as long as the context window, 3 blocks", (11, 6, 3, 3, 5), (3, 5), (1, 4)),
        case("5 texts of 13 tokens, 2 blocks", (17, 24, 4, 2, 19), (5, 13)),
    ]


EXERCISE = Exercise(
    reference=GPT,
    steps=STEPS,
    cases=gpt_cases,
    points=3,
    verified=(
        "You have your own language model, from tokens to the logits of every next token, and no position attends to "
        "later ones."
    ),
    hints=[
        "Follow a sequence of 3 tokens through the model. Which operation turns token IDs into vectors, and which "
        "turns vectors into logits?",
        "The order is: embeddings plus positions, the blocks (each with a causal mask), the norm, the logits.",
        "n tokens need the first n rows of `self.positions`, and the logits are products with `self.embedding.weight`.",
        "In the loop, `x = block(x, parts.causal_mask(n))`, and after it `self.norm(x) @ self.embedding.weight.T`.",
    ],
    messages={
        **stack.LAYER_MESSAGES,
        "inverted_mask": stack.inverted("mask"),
        "option_left_out_layer_output: layer(x)": Wording(
            "{summary}, so every position can attend to later ones. What should you pass to each block in addition to "
            "`x`?",
            summary="your blocks run without a causal mask",
        ),
        "function_logits: §.softmax(dim=-1)": Wording(
            "{summary}, but the loss and the sampling function expect logits and apply the softmax themselves. What "
            "should you return?",
            summary="you take a softmax of the logits",
            hints=["Which function does `F.cross_entropy` apply to its input first?"],
        ),
        "call_left_out_normed: output": Wording(
            "{summary}. Pre-norm blocks normalize only their inputs, so the output of the last block can be "
            "arbitrarily large. Which module from `__init__` comes before the logits?",
            summary="you never normalize the output of the last block",
        ),
        "part_left_out_first_input: embedded": Wording(
            "{summary}, so a token has the same vector at every position. Where should you use `self.positions`?",
            summary="you never add the positions to the embeddings",
        ),
        "length_length: tokens.shape[-2]": Wording(
            "{summary}. With a batch of one sequence, every token then gets row 0 of `self.positions`. Which "
            "dimension of `tokens` is the sequence?",
            summary="you use the batch size as the number of tokens",
        ),
        "not_transposed_logits": Wording(
            "{summary}, so your code crashes: the weight has shape (vocab_size, d_model). Which operation swaps its "
            "two dimensions?",
            summary="you multiply by `self.embedding.weight` without transposing it",
        ),
        "part_left_out_logits: normed": Wording(
            "{summary}. Each vector has d_model entries, but every token of the vocabulary needs a logit. Which "
            "matrix has one row for each token of the vocabulary?",
            summary="you return the normalized vectors instead of the logits",
        ),
        "moved_normed: first_input": Wording(
            "{summary}. Pre-norm blocks already normalize their own inputs, but the output of the last block can be "
            "arbitrarily large. What should you normalize before the logits?",
            summary="you normalize the input of the first block instead of the output of the last block",
        ),
        "not_indexed_encodings": Wording(
            "{summary}, even for a shorter sequence, so the shapes don't match and your code crashes. How many rows "
            "do n tokens need?",
            summary="you add all rows of `self.positions`",
        ),
        "first_for_all_encodings": Wording(
            "{summary}, so all tokens get the same position and the model can't use their order. Which row should "
            "token t get?",
            summary="you add row 0 of `self.positions` to every token",
        ),
        "operator_first_input: (embedded) - (encodings)": Wording(
            "{summary}. A network can learn with either sign, but published weights work only if you add. Which "
            "operator should you use?",
            summary="you subtract the positions from the embeddings instead of adding them",
        ),
    },
    mistakes=[
        *stack.layer_mistakes(STEPS)[:-1],  # an extra norm before the last norm changes almost nothing
        *stack.mask_mistakes(STEPS, "layer_mask", "mask"),
        Mistake(
            "norm_after_every_block",
            STEPS.but(kept=lambda self: lambda before, after: self.norm(after)),
            STEPS.but(kept=lambda self: lambda before, after: self.norm(after), normed=lambda output: output),
            summary="you apply the final norm after every block",
            message=(
                "{summary}, so you normalize the residual stream repeatedly. Pre-norm blocks should only add to the "
                "residual stream. Where should the final norm be?"
            ),
            hints=["In a model with three blocks, how many times do you call `self.norm`? How many times should you?"],
        ),
        Mistake(
            "log_probabilities",
            STEPS.but(logits=lambda logits: logits.log_softmax(dim=-1)),
            summary="you take a log-softmax of the logits",
            message=(
                "{summary}, but the loss and the sampling function expect logits and apply the softmax themselves. "
                "What should you return?"
            ),
            hints=["Which function does `F.cross_entropy` apply to its input first?"],
        ),
        Mistake(
            "positions_from_the_end",
            STEPS.but(encodings=lambda self, length: self.positions[-length:]),
            summary="you take the *last* rows of `self.positions`",
            message=(
                "{summary}, so the first token of a short sequence gets the encoding of a late position. Which row "
                "encodes position 0?"
            ),
            hints=["With a context length of 7 and 3 tokens, which rows do you take?", stack.ROW_BY_ROW, stack.SLICE],
        ),
        Mistake(
            "positions_from_one",
            STEPS.but(encodings=lambda self, length: self.positions[1 : length + 1]),
            summary="you start at row 1 of `self.positions` instead of row 0",
            message=(
                "{summary}, so every token gets the position of the next one, and a sequence that fills the context "
                "window gets one row too few. Which row should the first token get?"
            ),
            hints=["With 3 tokens, which rows do you take?", stack.ROW_BY_ROW, stack.SLICE],
        ),
        *stack.of_the_positions(STEPS),
        Mistake(
            "scaled_embeddings",
            STEPS.but(embedded=lambda embedded: embedded * embedded.shape[-1] ** 0.5),
            summary="you multiply the embeddings by √d_model",
            message=(
                "{summary}, as the original Transformer does. In GPT, the learned positions are added to unscaled "
                "embeddings. Which factor should you leave out?"
            ),
            hints=["In this exercise, what is the input of the first block?"],
        ),
        Mistake(
            "blocks_in_parallel",
            STEPS.but(
                outputs=lambda first_input, layers, layer_output: [
                    sum(layer_output(layer, number, first_input) for number, layer in enumerate(layers))
                ]
            ),
            summary="you pass every block the same input and add up the outputs",
            message=(
                "{summary}, so the second block can't use the result of the first. What input should the second block "
                "get?"
            ),
            hints=["With two blocks, does the input of your second block depend on the first block?"],
        ),
        Mistake(
            "mask_without_the_diagonal",
            STEPS.but(mask=lambda length: parts.causal_mask(length).tril(-1)),
            summary="your causal mask is False on the diagonal, so no token attends to itself",
            message="{summary} and the first token attends to nothing. What may position 0 attend to?",
            hints=["Print your mask for 3 tokens. How many True entries does each row have? How many should it have?"],
        ),
        Mistake(
            "mask_of_the_whole_window",
            STEPS.but(mask=lambda self: parts.causal_mask(len(self.positions))),
            summary="you make a mask for the whole context window instead of the sequence",
            message=(
                "{summary}, so the mask doesn't match a shorter sequence. How many rows and columns should the mask "
                "for n tokens have?"
            ),
            hints=["A sequence has 3 tokens and the context length is 7. What shape should the mask have?"],
        ),
        Mistake(
            "last_position_only",
            STEPS.but(normed=lambda normed: normed[:, -1]),
            STEPS.but(logits=lambda logits: logits[:, -1:]).attempt,
            summary="you compute logits for the last position only",
            message=(
                "{summary}, but training needs a prediction at every position: for 3 tokens, return logits of shape "
                "(batch, 3, vocab_size). Where do you drop the other positions?"
            ),
            hints=["In generation, which function should select the last position: your model or its caller?"],
        ),
        Mistake(
            "mean_over_the_positions",
            STEPS.but(normed=lambda normed: normed.mean(dim=1)),
            STEPS.but(logits=lambda logits: logits.mean(dim=1)).attempt,
            summary="you average over the positions",
            message=(
                "{summary}, as a text classifier does. For 3 tokens, you return one prediction, but a language model "
                "predicts the next token at each of the 3 positions. What shape should your logits have?"
            ),
            hints=["For 3 tokens, how many next tokens does the model predict?"],
        ),
        Mistake(
            "embedding_called_on_vectors",
            STEPS.but(logits=lambda self, normed: self.embedding(normed)).attempt,
            summary="you call `self.embedding` on vectors",
            message=(
                "{summary}, but `self.embedding` looks up rows by token ID, so your code crashes. Which product gives "
                "one logit for each token of the vocabulary?"
            ),
            hints=[
                "What does `self.embedding(…)` take, and what is `self.embedding.weight`?",
                "The logit of a token is the dot product of the vector and the token's row of the weight.",
                "`normed @ self.embedding.weight.T`, where `normed` is the normalized output.",
            ],
        ),
        Mistake(
            "logits_divided_by_a_root",
            STEPS.but(logits=lambda logits, normed: logits / normed.shape[-1] ** 0.5),
            summary="you divide the logits by √d_model",
            message=(
                "{summary}, so the probabilities become too uniform. Attention scales its scores like this, but the "
                "output layer doesn't. Which factor should you leave out?"
            ),
            hints=["By which factor are your logits too small? Is it the same in every case?"],
        ),
    ],
)
