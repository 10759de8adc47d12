"""The laboratory of the portfolio of `tenfold select`: which settings are worth their time, in which order, and how to combine them.

    python -m bench.portfolio measure --tables DIR --store DIR     outputs of every setting on every table
    python -m bench.portfolio learn --tables DIR --store DIR       order of the settings, and rules, leave-one-table-out
    python -m bench.portfolio order --tables DIR --store DIR       how much the order that is shipped matters, beside one learned elsewhere
"""
