"""The report of a run: one HTML file that loads nothing from elsewhere.

    facts    what the page shows, computed from the record of a run and its held-out predictions
    svg      marks and axes                 charts    the pictures, from facts
    words    numbers and verdicts in words  sections  the sections, each left out where its facts are absent
    page     all of it through a template, and the file
"""
