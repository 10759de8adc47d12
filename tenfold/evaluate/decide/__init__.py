"""Decisions from probabilities, and the least error there can be."""
