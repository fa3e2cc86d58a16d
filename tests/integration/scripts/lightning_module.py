"""Training a LightningModule, in the manner of Lightning's tutorials."""

import sys

import lightning
import torch
from torch.utils.data import DataLoader, TensorDataset

from reportgen.runner.callbacks import lightning_callback


class Regression(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.network = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 1))

    def training_step(self, batch, index):
        inputs, targets = batch
        return torch.nn.functional.mse_loss(self.network(inputs), targets)

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters())


def main(num_steps, output):
    features = torch.randn(256, 16)
    loader = DataLoader(TensorDataset(features, features.sum(1, keepdim=True)), batch_size=8)
    trainer = lightning.Trainer(
        max_steps=num_steps,
        accelerator="cpu",
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        callbacks=[lightning_callback("lightning", output=output, skip=2, device="cpu")],
    )
    trainer.fit(Regression(), loader)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
