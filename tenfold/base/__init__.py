"""The estimator, its roles and its gate: what every learner inherits."""
