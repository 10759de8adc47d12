"""The fits: all families on one fold after another.

    race         who runs when, and who is dropped         standing     who leads
    rows         what the learners get                     fits         one family on one training set
    prepared     the transformers before a learner         workers      processes that fit beside this one
    repeat       other divisions of the rows               deadline     Ctrl-C, and the end of the time
    checkpoint   a race on disk, that can go on
    text_score   what a text says, as a number             text_folds   the same for each training set
"""
