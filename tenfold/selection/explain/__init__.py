"""Why a model says what it says.

    drivers      what drives it, and where it fails: importances, effects, interactions
    alone        what each column says alone               slices       groups of rows that it fails on
    inside       its coefficients, or its rules            sizes        whether more rows would help
    reasons      of one row, along one column, what if     examples     three rows explained
"""
