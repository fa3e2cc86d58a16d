"""A vision transformer (ViT-base) over a batch of images.

Nothing is downloaded: weights and images are random. ``--set preset=tiny`` is for tests and small machines.
"""

import torch
from transformers import ViTConfig, ViTForImageClassification

from reportgen import Case, Step, Workload

PRESETS = {
    None: {"num_labels": 1000},
    "tiny": {
        "image_size": 32,
        "patch_size": 8,
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
    },
}


def build(case, device):
    """Return the step of `case` on `device`: a batch of images to their classes' scores."""
    torch.manual_seed(0)
    dtype = getattr(torch, case.dtype)
    with torch.device(device):
        model = ViTForImageClassification(ViTConfig(**PRESETS[case.preset]))
    model = model.to(dtype).eval()
    size = model.config.image_size
    images = torch.randn(case.batch, 3, size, size, device=device, dtype=dtype)

    def forward():
        with torch.inference_mode():
            return model(pixel_values=images)

    provenance = {"weights": "random", "inputs": "random images, already on the device"}
    return Step(forward, model=model, samples=case.batch, provenance=provenance)


WORKLOAD = Workload(
    name="vit",
    description="Vision transformer, ViT-base on images of 224 x 224",
    cases=(
        Case("forward", phase="forward", batch=64, dtype="float16", preset=None),
        Case("forward-one", phase="forward", batch=1, dtype="float16", preset=None),
    ),
    build=build,
)
