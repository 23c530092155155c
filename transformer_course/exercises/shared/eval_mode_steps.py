"""Steps of answers that look at a model in eval mode, and leave it in the mode in which it came."""


def was_training(model):
    """remember the mode of the model

    the mode in which the model came: its `training`
    """
    return model.training


def evaluating(model, was_training):
    """switch the model to eval mode

    the model in eval mode
    """
    return model.eval()
