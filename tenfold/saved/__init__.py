"""Saved models: numbers, strings and kinds from a fixed table. The format is specified in docs/format.md."""
