"""Why the device waits: its gaps by what the host did meanwhile, and whether the host can keep ahead of it."""
