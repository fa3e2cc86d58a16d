"""A script that knows nothing of profiling: run as it is by `exec`. Its argument is the number of steps."""

import argparse

import torch


def train_step(model, optimizer, batch):
    loss = model(batch).square().mean()
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
    loader = torch.utils.data.DataLoader(torch.randn(8 * parsed.steps, 16), batch_size=8)
    for batch in loader:
        if parsed.infer:
            with torch.inference_mode():
                model(batch)
        else:
            train_step(model, optimizer, batch)
    print("the script's own last line")


if __name__ == "__main__":
    main()
