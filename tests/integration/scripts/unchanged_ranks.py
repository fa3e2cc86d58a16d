"""Data-parallel training on the CPU that knows nothing of profiling: started by torchrun, run as it is by `exec`."""

import sys

import torch
from torch.nn.parallel import DistributedDataParallel


def main(num_steps):
    torch.distributed.init_process_group("gloo")
    model = DistributedDataParallel(torch.nn.Linear(16, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(num_steps):
        model(torch.randn(8, 16)).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main(int(sys.argv[1]))
