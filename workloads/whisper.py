"""A Whisper-like encoder-decoder: half a minute of sound in (encode), one token of text out (decode).

Nothing is downloaded: weights and sound are random, in the configuration of Whisper small.
``--set preset=tiny`` is for tests and small machines.
"""

import inspect

import torch
from transformers import DynamicCache, EncoderDecoderCache, WhisperConfig, WhisperForConditionalGeneration

from reportgen import Case, Step, Workload

PRESETS = {
    None: {"d_model": 768, "ffn_dim": 3072, "num_layers": 12, "num_heads": 12, "max_source_positions": 1500},
    "tiny": {"d_model": 64, "ffn_dim": 128, "num_layers": 2, "num_heads": 2, "max_source_positions": 100},
}


def build(case, device):
    """Return the step of `case` on `device`: the encoder over a batch of sound, or one more token of each text."""
    dtype = getattr(torch, case.dtype)
    model = load_model(case, device).to(dtype).eval()
    # Two frames of sound make one position of the encoder.
    num_frames = 2 * model.config.max_source_positions
    sound = torch.randn(case.batch, model.config.num_mel_bins, num_frames, device=device, dtype=dtype)
    provenance = {"weights": "random", "inputs": "random sound, 30 s each"}

    def encode():
        with torch.inference_mode():
            return model.get_encoder()(sound)

    if case.phase == "encode":
        return Step(encode, model=model, samples=case.batch, provenance=provenance)

    heard = encode()
    token = torch.full((case.batch, 1), 7, device=device)
    cache = None
    cache_name = cache_name_of(model)

    def before(index):
        """Start each lap with an empty text; from there each step adds a token."""
        nonlocal cache
        if index == 0:
            cache = EncoderDecoderCache(DynamicCache(), DynamicCache())

    def decode():
        with torch.inference_mode():
            return model(encoder_outputs=heard, decoder_input_ids=token, use_cache=True, **{cache_name: cache})

    provenance["outputs"] = "a given token each step"
    return Step(decode, model=model, before=before, mode="drained", tokens=case.batch, provenance=provenance)


def load_model(case, device):
    """Return the model; encoder and decoder are of one size."""
    size = dict(PRESETS[case.preset])
    for what, count in (("layers", size.pop("num_layers")), ("attention_heads", size.pop("num_heads"))):
        size.update({f"encoder_{what}": count, f"decoder_{what}": count})
    for side in ("encoder", "decoder"):
        size[f"{side}_ffn_dim"] = size["ffn_dim"]
    del size["ffn_dim"]
    torch.manual_seed(0)
    with torch.device(device):
        return WhisperForConditionalGeneration(WhisperConfig(**size))


def cache_name_of(model):
    """Return what the model calls its cache, by transformers' version."""
    return "cache" if "cache" in inspect.signature(model.forward).parameters else "past_key_values"


WORKLOAD = Workload(
    name="whisper",
    description="Whisper-small-like encoder-decoder: 30 s of sound in (encode), one token out (decode)",
    cases=(
        Case("encode", phase="encode", batch=8, dtype="float16", preset=None),
        Case("decode", phase="decode", batch=8, dtype="float16", preset=None),
    ),
    build=build,
)
