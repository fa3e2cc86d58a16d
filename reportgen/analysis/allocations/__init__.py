"""Whose memory it is: the blocks that an allocator handed out, from the trace's events or from a memory snapshot."""
