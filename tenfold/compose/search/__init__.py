"""The search for good parameters: settings, the fits that they share, their scores, and the score to expect of the best."""
