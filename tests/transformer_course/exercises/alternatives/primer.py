"""Correct answers to the primer's exercise in other styles."""

import torch
from torch import nn
from torch.nn import functional as F


def gradients_cleared_at_the_end(model, batches, learning_rate):
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters(), learning_rate)
    losses = []
    for x, y in batches:
        loss = criterion(model(x), y)
        losses += [float(loss)]
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    return losses


def cleared_through_the_model(model, batches, learning_rate):
    model.train()
    optimizer = torch.optim.Adam(params=model.parameters(), lr=learning_rate)
    history = torch.zeros(len(batches))
    for i, batch in enumerate(batches):
        model.zero_grad(set_to_none=False)
        log_probabilities = model(batch[0]).log_softmax(dim=-1)
        loss = F.nll_loss(log_probabilities, batch[1])
        loss.backward()
        optimizer.step()
        history[i] = loss.detach()
    return history.tolist()


def gradients_from_autograd(model, batches, learning_rate):
    parameters = list(model.parameters())
    optimizer = torch.optim.AdamW(parameters, lr=learning_rate, weight_decay=0.0)
    losses = []
    for names, months in batches:
        loss = -model(names).softmax(-1)[torch.arange(len(months)), months].log().mean()
        for parameter, gradient in zip(parameters, torch.autograd.grad(loss, parameters), strict=True):
            parameter.grad = gradient
        optimizer.step()
        losses.append(loss.detach())
    return losses


UNUSUAL = {
    "train_epoch": {
        "gradients cleared at the end": gradients_cleared_at_the_end,
        "cleared through the model": cleared_through_the_model,
        "gradients from autograd.grad": gradients_from_autograd,
    },
}
