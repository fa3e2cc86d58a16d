"""`capture()` as a callback: for Hugging Face's Trainer and for PyTorch Lightning.

    Trainer(..., callbacks=[trainer_callback("fine-tuning")])
    lightning.Trainer(..., callbacks=[lightning_callback("fine-tuning")])

Neither library is imported before its function is called. What the functions take is what `reportgen.capture` takes.
"""

from __future__ import annotations

from typing import Any

from reportgen.errors import UsageError
from reportgen.runner.capture import CaptureSession, capture
from reportgen.runner.capture.shortfall import Entry

_TRAINER = Entry(no_step="the training ended before the first update of the weights")
_LIGHTNING = Entry(no_step="the training ended before the first batch did")


def trainer_callback(name: str, **options: Any) -> Any:
    """Return a `transformers.TrainerCallback` that captures the training: a step is one update of the weights."""
    try:
        from transformers import TrainerCallback
    except ImportError as error:
        raise UsageError("trainer_callback() needs transformers: pip install 'reportgen[run]'") from error

    class Capture(TrainerCallback):  # type: ignore[misc]
        session: CaptureSession | None = None

        def on_train_begin(self, args: Any, state: Any, control: Any, **given: Any) -> None:
            asked = {"model": given.get("model"), "loader": given.get("train_dataloader"), **options}
            self.session = capture(name, **asked).__enter__()
            self.session.entry = _TRAINER

        def on_step_end(self, args: Any, state: Any, control: Any, **given: Any) -> None:
            if self.session is not None:
                self.session.step()

        def on_train_end(self, args: Any, state: Any, control: Any, **given: Any) -> None:
            if self.session is not None:
                self.session.__exit__(None, None, None)
                self.session = None

    return Capture()


def lightning_callback(name: str, **options: Any) -> Any:
    """Return a Lightning `Callback` that captures the training: a step is one batch."""
    from torch.utils.data import DataLoader

    callback_class = _lightning_callback_class()

    class Capture(callback_class):  # type: ignore[misc, valid-type]
        session: CaptureSession | None = None

        def on_train_start(self, trainer: Any, pl_module: Any) -> None:
            # A trainer may have several loaders, of which none is the loop's.
            loader = trainer.train_dataloader if isinstance(trainer.train_dataloader, DataLoader) else None
            asked = {"model": pl_module, "loader": loader, **options}
            self.session = capture(name, **asked).__enter__()
            self.session.entry = _LIGHTNING

        def on_train_batch_end(self, trainer: Any, pl_module: Any, *given: Any, **named: Any) -> None:
            if self.session is not None:
                self.session.step()

        def on_train_end(self, trainer: Any, pl_module: Any) -> None:
            self._close(None)

        def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
            self._close(exception)

        def _close(self, exception: BaseException | None) -> None:
            if self.session is not None:
                self.session.__exit__(type(exception) if exception else None, exception, None)
                self.session = None

    return Capture()


def _lightning_callback_class() -> Any:
    """Return Lightning's `Callback`, under either of the names that the package goes by."""
    try:
        from lightning.pytorch import Callback
    except ImportError:
        try:
            from pytorch_lightning import Callback
        except ImportError as error:
            raise UsageError("lightning_callback() needs Lightning: pip install lightning") from error
    return Callback
