"""What is saved.

    table_model  the model of a table: columns as read, in, predictions out
    blend        the mean of members                       refit        what was chosen, on all rows
    store        the folder of a run                       predictions  those of a file, as a file
    by_cells     the model as a learner of numbers         unlike       new rows that are unlike the table
"""
