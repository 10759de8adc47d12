"""The choice, from what is said of rows that were held out.

    held_out     what the settings say of rows that they have not seen, and how good that is
    choice       the best model, and the simplest that is as good        ensemble   weights of members
    decision     the class that is decided for, by costs                 costs      what errors cost
    floor        the least probability that is said
"""
