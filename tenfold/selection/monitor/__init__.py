"""A saved model on other rows, and beside other models.

    labelled     what it says of rows whose truth is known            promise   whether that is as good as estimated
    drift        whether new rows are like the table                  order     whether the rows of the table are alike
    paired       models on the same rows: which is better
"""
