"""Pyrometer's hook: marks what a PyTorch program does, without an edit to it.

Loaded by site/sitecustomize.py when the program has imported torch. See docs/concepts/hook.md.
Every part stands alone: one that does not fit, or fails, switches itself off and says so; the
program goes on as it would have.
"""
