"""Why a model says what it says.

    drivers      what drives it: importances               effects      along columns, and of two together
    failures     where it fails                            slices       groups of rows that it fails on
    alone        what each column says alone               along        quantiles along a column
    inside       its coefficients, or its rules            sizes        whether more rows would help
    reasons      of one row, along one column, what if     examples     three rows explained
"""
