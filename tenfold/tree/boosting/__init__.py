"""Gradient boosting on histograms."""
