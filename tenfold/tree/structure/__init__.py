"""Trees as arrays: their store, pruning, and description in words."""
