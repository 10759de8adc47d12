"""The advisor: which regression for these rows, and why."""
