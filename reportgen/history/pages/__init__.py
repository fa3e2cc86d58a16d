"""The pages over all nights: the index of what was found, and the trend of every figure."""
