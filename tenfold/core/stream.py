def is_dask(X): return False
def is_stream(X): return False
