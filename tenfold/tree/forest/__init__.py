"""Random forests and extremely randomised trees.

To follow a fit: `forest.py` (the learners: classes or numbers), `growing.py` (rows drawn, trees grown, what is known out of bag),
`fitted.py` (what a grown forest tells). Beneath them: `binned_table.py` (the rows), `quantiles.py` (training targets by leaf) and
`out_of_bag.py` (figures from rows that trees have not seen). `embedding.py` has a learner of its own.
"""
