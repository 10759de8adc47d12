"""The gate, part by part: tables, categories, targets and weights. `core.check` is its door: nothing else is called from outside."""
