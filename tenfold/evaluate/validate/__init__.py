"""Cross-validation, resampling, and what their numbers are worth."""
