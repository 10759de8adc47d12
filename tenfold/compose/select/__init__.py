"""Selectors of columns that ask a learner."""
