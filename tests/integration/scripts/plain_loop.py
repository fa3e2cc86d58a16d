"""A training loop as in a first tutorial: a small network, random data, a loss a step. Prints the losses exactly."""

import sys

import torch
from torch.utils.data import DataLoader, TensorDataset

import reportgen


def main(num_steps, output):
    torch.manual_seed(0)
    features = torch.randn(256, 32)
    loader = DataLoader(TensorDataset(features, features.sum(1, keepdim=True)), batch_size=16, shuffle=True)
    model = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.Linear(64, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    done = 0
    with reportgen.capture("plain", output=output, skip=2, model=model, loader=loader, samples=16) as session:
        while done < num_steps:
            for inputs, targets in loader:
                with torch.profiler.record_function("forward"):
                    loss = torch.nn.functional.mse_loss(model(inputs), targets)
                with torch.profiler.record_function("backward"):
                    loss.backward()
                optimizer.step()
                optimizer.zero_grad()
                print(loss.item().hex())
                session.step()
                done += 1


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
