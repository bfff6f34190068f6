"""What slipstream is compared with: a training step of torchvision's ResNet-50 in PyTorch, under autocast and
channels-last, with the fused optimizer."""
import torch
import torchvision


class Step:
    """One training step a call; `images` and `labels` are on the device."""

    def __init__(self, compiled=False, amp=torch.float16, device="cuda"):
        torch.backends.cudnn.benchmark = True
        self.amp = amp
        self.device = device
        model = torchvision.models.resnet50(num_classes=1000).to(device, memory_format=torch.channels_last)
        self.model = torch.compile(model) if compiled else model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4, fused=True)
        self.scaler = torch.amp.GradScaler(device)

    def __call__(self, images, labels):
        with torch.autocast(self.device, self.amp):
            loss = torch.nn.functional.cross_entropy(self.model(images), labels)
        self.optimizer.zero_grad()
        self.scaler.scale(loss).backward()
        self.scaler.step(self.optimizer)
        self.scaler.update()


def synthetic_batch(size, pixels=224, device="cuda"):
    """A random batch on the device."""
    images = torch.randn(size, 3, pixels, pixels, device=device).to(memory_format=torch.channels_last)
    return images, torch.randint(1000, (size,), device=device)
