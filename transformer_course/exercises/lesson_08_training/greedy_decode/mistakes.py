"""What goes wrong when the next token is chosen, and at the ends of sentences."""

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_08_training.greedy_decode.answer import STEPS

MISTAKES = [
    Mistake(
        "shows_the_newest_token_only",
        STEPS.but(shown=lambda: lambda target: target[:, -1:]),
        does="the model is shown the newest token alone",
        says=(
            "The first token is right, the others are not: {does}. For it, that stands at the first position, and "
            "nothing was generated before."
        ),
        hints=["What shape does the target have that the model gets in the third round? It should have three columns."],
    ),
    Mistake(
        "reads_the_position_before_the_last",
        STEPS.but(next_logits=lambda: lambda logits: logits[:, max(logits.shape[1] - 2, 0)]),
        does="the logits are those of the position before the last",
        says="From the second round on, the logits of the position before the last are taken: tokens come twice.",
        hints=["Which position speaks of the token that is not there yet?"],
    ),
    Mistake(
        "best_position",
        STEPS.but(
            next_logits=lambda: lambda logits: logits,
            choice=lambda: lambda logits: logits.argmax(dim=1)[:, -1],
        ),
        does="the choice runs over the positions, not over the vocabulary",
        says="What is chosen is a *position*, not a token: `argmax` runs along the positions.",
        hints=["The logits have the shape (batch, n, vocab_size). Which axis is 1?"],
    ),
    Mistake(
        "the_decoder_gets_the_source",
        STEPS.but(logits=lambda model, source: lambda shown: model(source, source)),
        does="the model is given the source as its target",
        says="The model is given the source twice. What has been generated so far never reaches it.",
        hints=["Does what the model says depend on what has been generated?"],
    ),
    Mistake(
        "the_logits_themselves",
        STEPS.but(choice=lambda: lambda next_logits: next_logits.amax(dim=-1)),
        does="the largest *logit* is taken, not its token",
        says="{does}. The *place* of the largest is the token.",
        hints=["What is `torch.tensor([0.1, 0.7]).max()`? And the likeliest token?"],
    ),
    Mistake(
        "leaves_the_model_in_eval_mode",
        STEPS.but(model=lambda model: model.eval()).attempt,
        says=(
            "The tokens are right, but the model is left in another mode than it came in: in eval mode, a model that "
            "is being trained goes on without its dropout."
        ),
        hints=[
            "What is `model.training` before the call, and after it?",
            "Nothing is asked about the mode: the model may be used as it is.",
            "Leave `model.eval()` out, or call `model.train(was_training)` in the end.",
        ],
    ),
    Mistake(
        "stops_before_the_end_is_written",
        STEPS.but(
            output=lambda written, eos_id: (
                written[:, 1:-1] if (written[:, 1:] == eos_id).any(1).all() else written[:, 1:]
            )
        ),
        does="when the last sentence ends, its eos is not appended any more",
        says=(
            "When the last sentence ends, its eos is not generated any more: the loop stops first. Eos is a token like "
            "any other, and part of the output."
        ),
        hints=["What comes out for a single sentence that ends after 3 tokens?"],
    ),
    Mistake(
        "last_column_cut_off",
        STEPS.but(output=lambda written: written[:, 1:-1]),
        does="the last token of each row is cut off",
        says="{does}. Only the bos should be left out, which stands in front. Look at what is returned.",
        hints=["With max_length = 1, how many tokens should come out?"],
    ),
    Mistake(
        "looks_at_the_first_sentence_only",
        STEPS.but(stop=lambda: lambda ended, tokens, target: ended[0]),
        does="the loop stops when the *first* sentence has ended",
        says="The end of the first sentence decides for all: when it has ended, the others are cut off.",
        hints=["What becomes of a long sentence, if the first one of the batch is short?"],
    ),
    Mistake(
        "filled_up_with_zero",
        STEPS.but(tokens=lambda: lambda chosen, ended: chosen.masked_fill(ended, 0)),
        does="sentences that have ended are filled up with token 0, and not with eos",
        hints=["What should fill up the sentences that have ended?"],
    ),
]
