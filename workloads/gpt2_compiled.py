"""GPT-2 with six layers, one prompt in, four ways: as it is, torch.compile in two modes, and as a CUDA graph.

Six layers are DistilGPT-2's (82M), and take half as long to compile as twelve, which is most of the time of a run.
Nothing is downloaded: the weights are random. ``--set preset=tiny`` is for tests and small machines: it compiles with
the backend that generates no code.
"""

import torch
from transformers import GPT2Config, GPT2LMHeadModel

from reportgen import Case, Step, Workload

PRESETS = {None: {"n_layer": 6}, "tiny": {"n_layer": 2, "n_head": 2, "n_embd": 64, "vocab_size": 1000}}


def build(case, device):
    """Return the step of `case` on `device`."""
    torch.manual_seed(0)
    with torch.device(device):
        model = GPT2LMHeadModel(GPT2Config(**PRESETS[case.preset]))
    model = model.to(getattr(torch, case.dtype)).eval()
    prompt = torch.randint(model.config.vocab_size, (case.batch, case.seq_len), device=device)
    provenance = {"weights": "random", "inputs": "random token ids, all of one length"}

    def forward(ids):
        return model(input_ids=ids, use_cache=False).logits

    if case.how.startswith("compile"):
        forward = compiled(forward, case)

    def prefill():
        with torch.inference_mode():
            return forward(prompt)

    if case.how == "cuda-graph":
        if device.type == "cuda":
            prefill = graphed(prefill)
        else:
            provenance["how"] = "as it is: a CUDA graph needs a CUDA device"
    return Step(prefill, model=model, tokens=prompt.numel(), provenance=provenance)


def compiled(function, case):
    """Return `function` compiled; the first step, in the cold pass, compiles it."""
    if case.preset == "tiny":
        return torch.compile(function, backend="eager", dynamic=False)
    return torch.compile(function, mode=case.how.partition(":")[2] or None, dynamic=False)


def graphed(step):
    """Return the replay of `step`, captured after a few steps on a stream of its own, as capturing demands."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        output = step()

    def replay():
        graph.replay()
        return output

    # The graph reads the prompt where it lay when it was captured: what holds the prompt must live as long.
    replay.captured = step
    return replay


WORKLOAD = Workload(
    name="gpt2-compiled",
    description="GPT-2 with six layers, one prompt in: eager, torch.compile, torch.compile with graphs, a CUDA graph",
    cases=(
        Case("eager", phase="prefill", how="eager", batch=1, seq_len=512, dtype="float16", preset=None),
        Case("compile", phase="prefill", how="compile", batch=1, seq_len=512, dtype="float16", preset=None),
        Case(
            "reduce-overhead",
            phase="prefill",
            how="compile:reduce-overhead",
            batch=1,
            seq_len=512,
            dtype="float16",
            preset=None,
        ),
        Case("cuda-graph", phase="prefill", how="cuda-graph", batch=1, seq_len=512, dtype="float16", preset=None),
    ),
    build=build,
)
