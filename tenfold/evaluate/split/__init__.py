"""Which rows are trained on and which are held out."""
