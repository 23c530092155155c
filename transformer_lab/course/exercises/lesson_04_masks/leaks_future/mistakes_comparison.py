"""What goes wrong when a leak test compares outputs."""

import torch

from transformer_lab.course.exercise import Mistake


def moves(model, tokens, position, compared, token=None):
    """Tell whether outputs in the compared places move when the token at a position is changed; in eval mode."""
    model.eval()
    changed = tokens.clone()
    changed[:, position] = (changed[:, position] + 1) % (tokens.max() + 1) if token is None else token
    return not torch.allclose(model(changed)[:, compared], model(tokens)[:, compared], atol=1e-4)


def later(tokens):
    return range(1, tokens.shape[1])


def never(model, tokens):
    return False


def wrong_way_round(model, tokens):
    return not any(moves(model, tokens, t, slice(0, t)) for t in later(tokens))


def one_quiet_change_is_enough(model, tokens):
    return any(not moves(model, tokens, t, slice(0, t)) for t in later(tokens))


def every_change_has_to_move(model, tokens):
    return all(moves(model, tokens, t, slice(0, t)) for t in later(tokens))


def looks_at_the_changed_position_too(model, tokens):
    return any(moves(model, tokens, t, slice(0, t + 1)) for t in later(tokens))


def looks_at_all_positions(model, tokens):
    return any(moves(model, tokens, t, slice(None)) for t in later(tokens))


def looks_at_the_changed_position_and_after(model, tokens):
    return any(moves(model, tokens, t, slice(t, None)) for t in later(tokens))


def looks_at_what_comes_after(model, tokens):
    return any(moves(model, tokens, t, slice(t + 1, None)) for t in later(tokens))


def looks_at_the_first_position_only(model, tokens):
    return any(moves(model, tokens, t, slice(0, 1)) for t in later(tokens))


def looks_one_position_back_only(model, tokens):
    return any(moves(model, tokens, t, slice(t - 1, t)) for t in later(tokens))


def stops_one_position_short(model, tokens):
    return any(moves(model, tokens, t, slice(0, t - 1)) for t in later(tokens))


def forgets_eval(model, tokens):
    before, leaks = model(tokens), False
    for t in later(tokens):
        changed = tokens.clone()
        changed[:, t] = (changed[:, t] + 1) % (tokens.max() + 1)
        leaks |= not torch.allclose(model(changed)[:, :t], before[:, :t], atol=1e-4)
    return leaks


def two_modes(model, tokens):
    before, leaks = model(tokens), False
    model.eval()
    for t in later(tokens):
        changed = tokens.clone()
        changed[:, t] = (changed[:, t] + 1) % (tokens.max() + 1)
        leaks |= not torch.allclose(model(changed)[:, :t], before[:, :t], atol=1e-4)
    return leaks


def the_same_dice_instead_of_eval(model, tokens):
    torch.manual_seed(0)
    before, leaks = model(tokens), False
    for t in later(tokens):
        changed = tokens.clone()
        changed[:, t] = (changed[:, t] + 1) % (tokens.max() + 1)
        torch.manual_seed(0)
        leaks |= not torch.allclose(model(changed)[:, :t], before[:, :t], atol=1e-4)
    return leaks


def equal_to_the_last_bit(model, tokens):
    model.eval()
    before, leaks = model(tokens), False
    for t in later(tokens):
        changed = tokens.clone()
        changed[:, t] = (changed[:, t] + 1) % (tokens.max() + 1)
        leaks |= not torch.equal(model(changed)[:, :t], before[:, :t])
    return leaks


def compares_the_best_tokens(model, tokens):
    model.eval()
    before, leaks = model(tokens).argmax(dim=-1), False
    for t in later(tokens):
        changed = tokens.clone()
        changed[:, t] = (changed[:, t] + 1) % (tokens.max() + 1)
        leaks |= not torch.equal(model(changed).argmax(dim=-1)[:, :t], before[:, :t])
    return leaks


MISTAKES = [
    Mistake(
        "never",
        [never],
        says="It finds no leak in any model, not even where the first position sees the second.",
        hints=[
            "Which outputs are compared with which? Are they of two runs with different tokens?",
            "Print the changed tokens beside the old ones, and the two outputs for the model of case 2.",
            "Change the token at `position`, and compare the outputs at `[:, :position]`.",
        ],
    ),
    Mistake(
        "wrong_way_round",
        [wrong_way_round],
        says="It says the opposite: True for models that do not leak, False for those that do.",
        hints=[
            "`torch.allclose` is True if nothing moved. What does that mean for the answer?",
            "The function says whether the model *leaks*.",
            "One `not` too few or too many.",
        ],
    ),
    Mistake(
        "one_quiet_change_is_enough",
        [one_quiet_change_is_enough],
        says=(
            "It answers True as soon as *one* change leaves the earlier outputs as they were. That is what innocent models "
            "do, and leaky ones too, at most positions."
        ),
        hints=[
            "`torch.allclose` is True if nothing moved. What does that mean for the answer?",
            "One output that moves proves a leak; one that stands still proves nothing.",
            "One `not` is missing: `if not torch.allclose(...): return True`, or `leaks |= not torch.allclose(...)`.",
        ],
    ),
    Mistake(
        "every_change_has_to_move",
        [every_change_has_to_move],
        says=(
            "It answers True only if *every* change moves something before it. A model that leaks from one position only "
            "goes free."
        ),
        hints=[
            "In the model of case 3, which of the changes move anything?",
            "One output that moves proves a leak, whatever the other changes do.",
            "`any` instead of `all`, or `leaks |= ...`, which starts from False.",
        ],
    ),
    Mistake(
        "looks_at_the_changed_position_too",
        [looks_at_the_changed_position_too, looks_at_all_positions, looks_at_the_changed_position_and_after],
        says=(
            "It accuses every model: among the outputs that are compared is the one at the changed position, which may "
            "well move. Look at where the slices begin and end."
        ),
        hints=[
            "The token at position 3 was changed. Is the output at 3 allowed to move?",
            "Only what comes *before* the changed position has to stand still.",
            "Compare `[:, :position]` of both.",
        ],
    ),
    Mistake(
        "looks_at_what_comes_after",
        [looks_at_what_comes_after],
        says="It watches what comes *after* the changed token. That is the past acting on the future, as it should.",
        hints=[
            "The token at position 3 was changed. Whose future is it?",
            "Only what comes *before* the changed position has to stand still.",
            "Compare `[:, :position]` of both.",
        ],
    ),
    Mistake(
        "looks_at_the_first_position_only",
        [looks_at_the_first_position_only],
        says="Only the output at the first position is watched: a leak into any other stays unseen.",
        hints=[
            "The model of case 4 leaks into the third position. Is it compared?",
            "All positions before the changed one have to stand still.",
            "Compare `[:, :position]` of both.",
        ],
    ),
    Mistake(
        "looks_one_position_back_only",
        [looks_one_position_back_only],
        says="Only the position just before the changed token is watched: a leak from further ahead stays unseen.",
        hints=[
            "In the model of case 3, the first position sees the last. Is it compared?",
            "All positions before the changed one have to stand still.",
            "Compare `[:, :position]` of both.",
        ],
    ),
    Mistake(
        "stops_one_position_short",
        [stops_one_position_short],
        says=(
            "The position just before the changed token is not watched, and there the commonest leak of all shows: a "
            "mask that is off by one. Look at where the slice ends."
        ),
        hints=[
            "Which positions does `[:, :position - 1]` hold for position 1?",
            "A slice leaves its end out by itself.",
            "Compare `[:, :position]` of both.",
        ],
    ),
    Mistake(
        "forgets_eval",
        [forgets_eval],
        says=(
            "The model is run in the mode in which it comes. While it trains, dropout makes every run different, and "
            "innocent models are accused; and one that leaks only outside of training is missed."
        ),
        hints=[
            "Run the model of a training loop twice on the same tokens. Is the output the same?",
            "Every `nn.Module` has two modes, and it is used in the one that is not for training.",
            "`model.eval()` first, and `model.train(was_training)` at the end.",
        ],
    ),
    Mistake(
        "two_modes",
        [two_modes],
        says=(
            "Of the two outputs that are compared, one comes from training mode and one from eval mode. Where these "
            "differ, an innocent model is accused. Look at when the mode is switched."
        ),
        hints=[
            "Print `model.training` just before each run of the model.",
            "A difference should come from the changed token, and from nothing else.",
            "`model.eval()` before the first run, and `model.train(was_training)` after the last.",
        ],
    ),
    Mistake(
        "the_same_dice_instead_of_eval",
        [the_same_dice_instead_of_eval],
        says=(
            "Seeding makes dropout the same in every run, but the model is still in training mode. One that leaks only "
            "outside of training is missed."
        ),
        hints=[
            "In which mode will the model be used?",
            "Some models hide the future only while they train.",
            "`model.eval()` first, and `model.train(was_training)` at the end.",
        ],
    ),
    Mistake(
        "equal_to_the_last_bit",
        [equal_to_the_last_bit],
        says=(
            "Outputs are compared to the last bit. Two runs may add up in another order and differ by rounding, and "
            "an innocent model is accused."
        ),
        hints=[
            "How large is a difference that only comes from rounding, and how large one from another token?",
            "One function of torch compares up to a tolerance.",
            "`torch.allclose(a, b, atol=1e-4)`.",
        ],
    ),
    Mistake(
        "compares_the_best_tokens",
        [compares_the_best_tokens],
        says=(
            "A small leak is missed: only the most likely token is compared, or the tolerance is wide. Training will make "
            "such a leak larger."
        ),
        hints=[
            "If an output moves from 0.50 to 0.53, does an argmax notice, or a tolerance of 0.1?",
            "The outputs themselves have to stand still, up to rounding.",
            "Compare the outputs, without an argmax, by `torch.allclose(a, b, atol=1e-4)`.",
        ],
    ),
]
