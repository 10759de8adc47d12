"""The report of a run: one HTML file that loads nothing from elsewhere.

    facts     the record of a run and its held-out predictions, read with tolerance for what is absent
    svg       marks and axes                     charts, curves, axes    the pictures, from facts
    trust, classes, numbers                      what is computed from held-out predictions
    verdict, warned, drivers, decisions, errors, uncertainty, fairness, race, chosen, read, reproduce
                                                 the sections, each left out where its facts are absent
    page      all of it through a template, and the file
    markdown  the same as a text                 printed                 the same as a PDF
    typed     commands that can be pasted        folder                  the report of a run that was saved
"""
