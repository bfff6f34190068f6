"""The baseline: ResNet-50 in eager PyTorch, fp16 autocast and channels-last, fed by torchvision's ImageFolder
and a DataLoader (or by one synthetic batch). Trains two epochs and prints the second's figures as JSON."""
import argparse
import json
import time

import torch
import torchvision
from torchvision import transforms

parser = argparse.ArgumentParser()
parser.add_argument("--data", required=True)
parser.add_argument("--workers", type=int, default=16)
parser.add_argument("--batch-size", type=int, default=256)
parser.add_argument("--synthetic", action="store_true")
arguments = parser.parse_args()

torch.backends.cudnn.benchmark = True
device = torch.device("cuda")
model = torchvision.models.resnet50(num_classes=1000).to(device, memory_format=torch.channels_last)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4, fused=True)
scaler = torch.amp.GradScaler()


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
        images = torch.randn(arguments.batch_size, 3, 224, 224, device=device)
        self.batch = (images.to(memory_format=torch.channels_last),
                      torch.randint(1000, (arguments.batch_size,), device=device))

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
        with torch.autocast("cuda", torch.float16):
            loss = torch.nn.functional.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        images_seen += images.shape[0]
    torch.cuda.synchronize()
    wall = time.perf_counter() - start
print(json.dumps({"images_per_s": images_seen / wall, "wall_s": wall, "images": images_seen}))
