"""A script that knows nothing of profiling: run as it is by `exec`. Its argument is the number of steps."""

import argparse

import torch


def train_step(model, optimizer):
    loss = model(torch.randn(8, 16)).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--infer", action="store_true")
    parsed = parser.parse_args()
    model = torch.nn.Sequential(torch.nn.Linear(16, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(parsed.steps):
        if parsed.infer:
            with torch.inference_mode():
                model(torch.randn(8, 16))
        else:
            train_step(model, optimizer)
    print("the script's own last line")


if __name__ == "__main__":
    main()
