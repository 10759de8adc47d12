"""What to expect on new rows.

    audit        the choice made again without some rows, and judged on those
    estimate     scores with ranges                        certainty    ranges and sets of single predictions
    growth       what the last rows bring                  unseen       the predictions of held-out rows, as they are kept
    decisions    what decisions cost, and what they find   remarks      second opinions, all that was tried
"""
