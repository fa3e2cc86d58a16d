"""Data-parallel training on the CPU, started by torchrun: each rank takes its own batches, gradients are averaged."""

import sys

import torch
from torch.nn.parallel import DistributedDataParallel

import reportgen


def main(num_steps, output):
    torch.distributed.init_process_group("gloo")
    model = DistributedDataParallel(torch.nn.Linear(16, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with reportgen.capture("ranks", output=output, skip=2, device="cpu") as session:
        for _ in range(num_steps):
            model(torch.randn(8, 16)).square().mean().backward()
            optimizer.step()
            optimizer.zero_grad()
            session.step()
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
