"""Steps from the differences of two tensors to one number, in answers that have changed the mode of a model."""


def sizes(differences):
    """leave the signs out

    the sizes of the differences, without their signs
    """
    return differences.abs()


def largest(sizes):
    """take the largest of all

    the largest of the sizes
    """
    return sizes.max()


def answer(model, was_training, largest):
    """set the mode of the model back

    the largest difference as a number, with the mode of the model set back
    """
    model.train(was_training)
    return largest.item()
