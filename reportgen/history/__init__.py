"""Many reports: what is stored of them, how two of them differ, and what a series of nights says."""
