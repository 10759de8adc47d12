"""Single trees: exact thresholds, stumps, ID3, C4.5."""
