"""Profile a workload: a child process per case, each pass on its own, into a recording.

The parent (`run`, `process`) imports no torch. A child (`child`, `session` and what they use) runs one case and tells
its parent what it measured, message by message (`messages`). Only this package imports torch.
"""
