"""Models that are not linear in their parameters: curves, circles, kernels."""
