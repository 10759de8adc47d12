"""Calibrated probabilities, and conformal prediction."""
