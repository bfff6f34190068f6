"""The baseline: ResNet-50 in eager PyTorch, fp16 autocast and channels-last, fed by torchvision's ImageFolder
and a DataLoader (or by one synthetic batch). Trains two epochs and prints the second's figures as JSON."""
import argparse
import json
import time

import torch
import torchvision
from torchvision import transforms

from pytorch_step import Step, synthetic_batch

parser = argparse.ArgumentParser()
parser.add_argument("--data", required=True)
parser.add_argument("--workers", type=int, default=16)
parser.add_argument("--batch-size", type=int, default=256)
parser.add_argument("--synthetic", action="store_true")
arguments = parser.parse_args()

device = torch.device("cuda")
step = Step()


def real_batches():
    transform = transforms.Compose([
        transforms.RandomResizedCrop(224), transforms.RandomHorizontalFlip(), transforms.PILToTensor(),
        transforms.ConvertImageDtype(torch.float),
        transforms.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))])
    folder = torchvision.datasets.ImageFolder(arguments.data + "/train", transform)
    return torch.utils.data.DataLoader(folder, arguments.batch_size, shuffle=True, num_workers=arguments.workers,
                                       pin_memory=True, drop_last=True, persistent_workers=True,
                                       prefetch_factor=4)


class SyntheticBatches:
    def __init__(self):
        self.batch = synthetic_batch(arguments.batch_size)

    def __iter__(self):
        for _ in range(80):
            yield self.batch


batches = SyntheticBatches() if arguments.synthetic else real_batches()
for epoch in range(2):
    images_seen = 0
    torch.cuda.synchronize()
    start = time.perf_counter()
    for images, labels in batches:
        images = images.to(device, non_blocking=True, memory_format=torch.channels_last)
        labels = labels.to(device, non_blocking=True)
        step(images, labels)
        images_seen += images.shape[0]
    torch.cuda.synchronize()
    wall = time.perf_counter() - start
print(json.dumps({"images_per_s": images_seen / wall, "wall_s": wall, "images": images_seen}))
