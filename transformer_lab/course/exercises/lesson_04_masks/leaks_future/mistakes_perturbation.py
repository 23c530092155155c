"""What goes wrong when a leak test changes tokens."""

import torch

from transformer_lab.course.exercise import Mistake
from transformer_lab.course.exercises.lesson_04_masks.leaks_future.mistakes_comparison import later, moves


def changes_the_last_token_only(model, tokens):
    return moves(model, tokens, -1, slice(0, tokens.shape[1] - 1))


def changes_all_but_the_last(model, tokens):
    return any(moves(model, tokens, t, slice(0, t)) for t in range(1, tokens.shape[1] - 1))


def changes_the_second_token_only(model, tokens):
    for t in later(tokens):
        return moves(model, tokens, t, slice(0, t))


def writes_into_the_tokens(model, tokens):
    model.eval()
    before = model(tokens)
    changed = tokens
    leaks, highest = False, tokens.max()
    for t in later(tokens):
        changed[:, t] = (changed[:, t] + 1) % (highest + 1)
        leaks |= not torch.allclose(model(changed)[:, :t], before[:, :t], atol=1e-4)
    return leaks


def writes_into_the_tokens_and_stops(model, tokens):
    model.eval()
    before = model(tokens)
    highest = tokens.max()
    for t in reversed(later(tokens)):
        tokens[:, t] = (tokens[:, t] + 1) % (highest + 1)
        if not torch.allclose(model(tokens)[:, :t], before[:, :t], atol=1e-4):
            return True
    return False


def writes_into_the_tokens_and_returns(model, tokens):
    model.eval()
    before = model(tokens)
    highest = tokens.max()
    for t in later(tokens):
        tokens[:, t] = (tokens[:, t] + 1) % (highest + 1)
        if not torch.allclose(model(tokens)[:, :t], before[:, :t], atol=1e-4):
            return True
    return False


def writes_into_the_tokens_and_compares_with_them(model, tokens):
    model.eval()
    highest = tokens.max()
    for t in later(tokens):
        changed = tokens
        changed[:, t] = (changed[:, t] + 1) % (highest + 1)
        if not torch.allclose(model(changed)[:, :t], model(tokens)[:, :t], atol=1e-4):
            return True
    return False


def changes_pile_up(model, tokens):
    model.eval()
    before, changed, leaks = model(tokens), tokens.clone(), False
    for t in later(tokens):
        changed[:, t] = (changed[:, t] + 1) % (tokens.max() + 1)
        leaks |= not torch.allclose(model(changed)[:, :t], before[:, :t], atol=1e-4)
    return leaks


def the_same_token_by_chance(model, tokens):
    return any(moves(model, tokens, t, slice(0, t), token=0) for t in later(tokens))


def the_same_token_one_by_chance(model, tokens):
    return any(moves(model, tokens, t, slice(0, t), token=1) for t in later(tokens))


def always_the_largest_token(model, tokens):
    return any(moves(model, tokens, t, slice(0, t), token=tokens.max()) for t in later(tokens))


def beyond_the_vocabulary(model, tokens):
    model.eval()
    before = model(tokens)
    for t in later(tokens):
        changed = tokens.clone()
        changed[:, t] += 1
        if not torch.allclose(model(changed)[:, :t], before[:, :t], atol=1e-4):
            return True
    return False


def beyond_the_vocabulary_all_at_once(model, tokens):
    model.eval()
    before = model(tokens)
    for t in later(tokens):
        changed = tokens.clone()
        changed[:, t:] = changed[:, t:] + 1
        if not torch.allclose(model(changed)[:, :t], before[:, :t], atol=1e-4):
            return True
    return False


def shuffles_the_future(model, tokens):
    model.eval()
    before, leaks = model(tokens), False
    for t in later(tokens):
        changed = torch.cat([tokens[:, :t], tokens[:, t:].flip(1)], dim=1)
        leaks |= not torch.allclose(model(changed)[:, :t], before[:, :t], atol=1e-4)
    return leaks


MISTAKES = [
    Mistake(
        "changes_the_last_token_only",
        [changes_the_last_token_only],
        says=(
            "Only the last token counts: it alone is changed, or what each position showed is overwritten by the next. "
            "What leaks from any other position stays unseen."
        ),
        hints=[
            "The model of case 4 sees from the third position to the fourth of five. Is the fourth ever changed, and "
            "is what that shows still known at the end?",
            "Each position but the first can be the future of another, and one that moves proves a leak.",
            "A loop over `range(1, tokens.shape[1])`, and `leaks |= …` or `return True` in it, not `leaks = …`.",
        ],
    ),
    Mistake(
        "changes_all_but_the_last",
        [changes_all_but_the_last],
        says="The last token is never changed: what leaks from there stays unseen. Look at where the loop ends.",
        hints=[
            "Which positions does the loop visit for 5 tokens?",
            "`range(1, n)` ends at n - 1, which is the last position.",
            "`range(1, tokens.shape[1])`.",
        ],
    ),
    Mistake(
        "changes_the_second_token_only",
        [changes_the_second_token_only],
        says="Only the second token is ever changed. If there is a loop, it ends with its first round.",
        hints=[
            "Over which positions does the loop go (`len(tokens)` is the batch), and when does it first `return`?",
            "One quiet position proves nothing; one that moves proves a leak.",
            "`for position in range(1, tokens.shape[1])`. Return True inside the loop, False only after it.",
        ],
    ),
    Mistake(
        "writes_into_the_tokens",
        [
            writes_into_the_tokens,
            writes_into_the_tokens_and_stops,
            writes_into_the_tokens_and_returns,
            writes_into_the_tokens_and_compares_with_them,
        ],
        says=(
            "The tokens are changed for good: every later run of the model gets the changed ones, and so does whoever "
            "called. `b = a` gives a tensor a second name and copies nothing."
        ),
        hints=[
            "Print `tokens` before and after a call.",
            "Which method of a tensor makes a copy?",
            "`tokens.clone()`, in every round.",
        ],
    ),
    Mistake(
        "changes_pile_up",
        [changes_pile_up],
        says=(
            "With three tokens or more, it accuses every model: among the outputs that are compared are those of positions "
            "that have been changed themselves, at once or in an earlier round. Look at what is changed in each round."
        ),
        hints=[
            "Print the changed tokens in every round, beside the old ones. At how many positions do they differ?",
            "A round for position 3 compares the outputs before it. May anything have been changed there?",
            "`tokens.clone()` *inside* the loop, so that each round starts from the tokens as they were.",
        ],
    ),
    Mistake(
        "the_same_token_by_chance",
        [the_same_token_by_chance, the_same_token_one_by_chance, always_the_largest_token],
        says=(
            "The new token is always the same one. Where it stood there already, nothing has been changed, and the "
            "leak stays unseen."
        ),
        hints=[
            "What if the token at that position is the very one that is put there?",
            "The new token has to depend on the old one.",
            "The old one plus 1, brought back into the vocabulary by `%`.",
        ],
    ),
    Mistake(
        "beyond_the_vocabulary",
        [beyond_the_vocabulary, beyond_the_vocabulary_all_at_once],
        says="The new token may be one that the model does not know: plus 1 leads beyond the largest.",
        hints=[
            "Which ids are surely known, if there is nothing but these tokens?",
            "After the largest, start again from 0.",
            "`% (tokens.max() + 1)`.",
        ],
    ),
    Mistake(
        "shuffles_the_future",
        [shuffles_the_future],
        says=(
            "The later tokens only change places: where there is but one of them, or all are alike, nothing is changed "
            "at all."
        ),
        hints=[
            "What does this change make of one single later token?",
            "The token at the position has to become *another* token.",
            "The old one plus 1, brought back into the vocabulary by `%`.",
        ],
    ),
]
