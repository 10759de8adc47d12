def is_path(X): return isinstance(X, str)
