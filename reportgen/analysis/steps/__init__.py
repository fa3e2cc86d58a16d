"""The steps: when they began and were complete, how long they took, and which rows are theirs."""
