"""A table as it is: read from a file or frame, its cells understood, its columns given a kind.

    reading      a file or frame -> polars frame        lines            a CSV file line by line
    cells        which cells are missing, texts, numbers  written_numbers  numbers as people write them
    dates        days                                   columns          what each column is, and which are used
    task         classes or a number                    copies           equal rows
    table        `read` and what it returns               flags, leaks     what should be known before learning
    kinds        nominal, ordinal, count, ...             names, orders    what names and levels say
"""
