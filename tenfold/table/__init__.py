"""A table as it is: read from a file or frame, its cells understood, its columns given a kind.

    reading      a file or frame -> polars frame        lines            a CSV file line by line
    cells        which cells are missing, texts, numbers  written_numbers  numbers as people write them
    dates        days                                   columns          what each column is, and which are used
    task         classes or a number                    checks           copies of rows, columns that give the target away
"""
