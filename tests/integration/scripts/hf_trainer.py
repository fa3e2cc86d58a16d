"""Fine-tuning with Hugging Face's Trainer, in the manner of its tutorials; nothing is downloaded."""

import sys

import torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments

from reportgen.runner.callbacks import trainer_callback


class Texts(torch.utils.data.Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, index):
        ids = torch.randint(1, 100, (8 + index % 5,), generator=torch.Generator().manual_seed(index))
        return {"input_ids": ids, "labels": index % 2}


def collate(texts):
    ids = torch.nn.utils.rnn.pad_sequence([text["input_ids"] for text in texts], batch_first=True)
    labels = torch.tensor([text["labels"] for text in texts])
    return {"input_ids": ids, "attention_mask": (ids != 0).long(), "labels": labels}


def main(num_steps, output):
    config = BertConfig(
        vocab_size=100, hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2
    )
    arguments = TrainingArguments(
        output_dir=f"{output}/checkpoints",
        max_steps=num_steps,
        per_device_train_batch_size=4,
        report_to=[],
        save_strategy="no",
        disable_tqdm=True,
        use_cpu=True,
    )
    callback = trainer_callback("trainer", output=output, skip=2, device="cpu")
    trainer = Trainer(
        model=BertForSequenceClassification(config),
        args=arguments,
        train_dataset=Texts(),
        data_collator=collate,
        callbacks=[callback],
    )
    trainer.train()


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
