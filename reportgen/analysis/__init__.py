"""Numbers from traces: what a step takes, on what, and why the device waits."""
