"""What torchvision's ResNets compute, for resnet_oracle_test.cpp to compare with.

resnet_oracle.py ARCH FOLDER: checks FOLDER/ours.pt, the weights that slipstream made of the same seed, and
prints how many tensors they are; then writes weights.pt (batch norms moved off their defaults), expected.pt
(what these compute) and checkpoint.pt (weights after a training pass, among other things).
"""
import argparse
import sys

import torch
import torchvision

SEED = 20
CLASSES = 1000


def randomise_batch_norms(model):
    for module in model.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            with torch.no_grad():
                module.weight.uniform_(0.8, 1.2)
                module.bias.normal_(0, 0.1)
                module.running_mean.normal_(0, 0.1)
                module.running_var.uniform_(0.8, 1.2)


def logits_and_gradients(model, images, labels):
    model.zero_grad()
    logits = model(images)
    torch.nn.functional.cross_entropy(logits, labels).backward()
    return logits.detach(), {name: p.grad.clone() for name, p in model.named_parameters()}


def check_weights(path, expected):
    weights = torch.load(path, weights_only=True)
    assert type(weights) is dict, type(weights)
    assert list(weights) == list(expected), "names or their order differ"
    for name, tensor in weights.items():
        assert tensor.dtype == expected[name].dtype and tensor.is_contiguous(), name
        assert torch.equal(tensor, expected[name]), f"{name} differs from what the same seed gives here"
    return len(weights)


def write_expected(model, folder):
    torch.save(model.state_dict(), f"{folder}/weights.pt")
    images = torch.randn(4, 3, 96, 96)
    labels = torch.randint(CLASSES, (4,))
    expected = {"images": images, "labels": labels}
    model.eval()
    expected["eval_logits"], expected["eval_gradients"] = logits_and_gradients(model, images, labels)
    model.train()
    expected["train_logits"], expected["train_gradients"] = logits_and_gradients(model, images, labels)
    expected["buffers_after"] = dict(model.named_buffers())
    # As torchvision's reference training saves it: beside the weights are objects of other classes.
    checkpoint = {"model": model.state_dict(), "args": argparse.Namespace(lr=0.1), "epoch": 2**40}
    torch.save(checkpoint, f"{folder}/checkpoint.pt")
    torch.save(expected, f"{folder}/expected.pt")


torch.set_num_threads(1)
arch, folder = sys.argv[1:]
torch.manual_seed(SEED)
model = torchvision.models.get_model(arch, num_classes=CLASSES)
print(check_weights(f"{folder}/ours.pt", model.state_dict()))
randomise_batch_norms(model)
write_expected(model, folder)
