"""A convolutional network (ResNet-50) over a batch of images: forward, and a training step.

Nothing is downloaded: weights and images are random. ``--set channels_last=true`` lays images and weights out as
tensor cores read them; ``--set preset=tiny`` is for tests and small machines.
"""

import torch
from transformers import ResNetConfig, ResNetForImageClassification

from reportgen import Case, Step, Workload

PRESETS = {
    None: {"num_labels": 1000},
    "tiny": {"embedding_size": 16, "hidden_sizes": [16, 32], "depths": [1, 1], "num_labels": 10},
}


def build(case, device):
    """Return the step of `case` on `device`."""
    torch.manual_seed(0)
    layout = torch.channels_last if case.channels_last else torch.contiguous_format
    with torch.device(device):
        model = ResNetForImageClassification(ResNetConfig(**PRESETS[case.preset])).to(memory_format=layout)
    images = torch.randn(case.batch, 3, case.size, case.size, device=device).to(memory_format=layout)
    dtype = getattr(torch, case.dtype)
    provenance = {"weights": "random", "inputs": "random images, already on the device"}

    if case.phase == "forward":
        model, images = model.to(dtype).eval(), images.to(dtype)

        def forward():
            with torch.inference_mode():
                return model(pixel_values=images)

        return Step(forward, model=model, samples=case.batch, provenance=provenance)

    labels = torch.randint(model.config.num_labels, (case.batch,), device=device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

    def train():
        with torch.autocast(device.type, dtype):
            loss = model(pixel_values=images, labels=labels).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss

    return Step(train, model=model.train(), optimizer=optimizer, samples=case.batch, provenance=provenance)


WORKLOAD = Workload(
    name="resnet",
    description="ResNet-50 on images of 224 x 224: forward, and a training step with SGD in mixed precision",
    cases=(
        Case("forward", phase="forward", batch=64, size=224, dtype="float16", channels_last=False, preset=None),
        Case("train", phase="train", batch=64, size=224, dtype="bfloat16", channels_last=False, preset=None),
    ),
    build=build,
)
