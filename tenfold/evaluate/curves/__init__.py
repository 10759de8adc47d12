"""Learning curves, validation curves, bias and variance."""
