"""Fine-tuning a BERT-like classifier, with a real DataLoader: texts of different lengths, padded batch by batch.

The loader is part of the step: what it costs, and whether the device waits for it, is in the report. Nothing is
downloaded: weights and texts are random. ``--set preset=tiny`` is for tests and small machines.
"""

import torch
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader
from transformers import BertConfig, BertForSequenceClassification

from reportgen import Case, Step, Workload
from reportgen.workload.provenance import describe_lengths, describe_loader

PRESETS = {
    None: {},
    "tiny": {
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "vocab_size": 1000,
    },
}


class Texts:
    """Random texts with a label each; their lengths are log-normal, as those of sentences are."""

    def __init__(self, num_texts, max_len, vocab_size):
        generator = torch.Generator().manual_seed(0)
        drawn = torch.exp(torch.randn(num_texts, generator=generator) * 0.6) * max_len / 4
        self.lengths = drawn.long().clamp(4, max_len).tolist()
        self.vocab_size = vocab_size

    def __len__(self):
        return len(self.lengths)

    def __getitem__(self, index):
        generator = torch.Generator().manual_seed(index)
        ids = torch.randint(1, self.vocab_size, (self.lengths[index],), generator=generator)
        return ids, index % 2


def collate(texts):
    """Pad a batch to its longest text."""
    ids = pad_sequence([ids for ids, _ in texts], batch_first=True)
    return {
        "input_ids": ids,
        "attention_mask": (ids != 0).long(),
        "labels": torch.tensor([label for _, label in texts]),
    }


def endless(loader):
    """Yield batches, epoch after epoch."""
    while True:
        yield from loader


def build(case, device):
    """Return the step of `case` on `device`: the next batch from the loader, forward, backward, update."""
    torch.manual_seed(0)
    with torch.device(device):
        model = BertForSequenceClassification(BertConfig(**PRESETS[case.preset])).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-5, fused=True)
    texts = Texts(case.num_texts, case.max_len, model.config.vocab_size)
    loader = DataLoader(
        texts,
        batch_size=case.batch,
        collate_fn=collate,
        num_workers=case.workers,
        persistent_workers=case.workers > 0,
        pin_memory=device.type == "cuda",
        drop_last=True,
    )
    batches = endless(loader)

    def train():
        batch = {name: tensor.to(device, non_blocking=True) for name, tensor in next(batches).items()}
        with torch.autocast(device.type, torch.bfloat16):
            loss = model(**batch).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss

    return Step(train, model=model, optimizer=optimizer, samples=case.batch, provenance=provenance_of(texts, loader))


def provenance_of(texts, loader):
    """Say what is made up, and how long the texts of a batch are beside what they are padded to."""
    size = loader.batch_size
    padded = [max(texts.lengths[start : start + size]) for start in range(0, len(texts) - size + 1, size)]
    lengths = texts.lengths[: len(padded) * size]
    return {
        "weights": "random",
        "inputs": "random token ids",
        **describe_lengths(lengths, [longest for longest in padded for _ in range(size)]),
        **describe_loader(loader),
    }


WORKLOAD = Workload(
    name="finetune",
    description="Fine-tuning of a BERT-base-like classifier, fed by a DataLoader that pads batch by batch",
    cases=(Case("train", phase="train", batch=32, max_len=512, num_texts=4096, workers=2, preset=None),),
    build=build,
)
