"""Run workloads night after night, unattended: remember, compare with the nights before, say what changed."""
