"""Learners made of learners."""

# Public name -> the module of this folder that defines it. After a new line: python tools/generate
PUBLIC = {
    "RANSACRegressor": "ransac",
    "Pipeline": "pipeline",
    "make_pipeline": "pipeline",
    "BaggingClassifier": "bagging",
    "BaggingRegressor": "bagging",
    "AdaBoostClassifier": "adaboost",
    "AdaBoostRegressor": "adaboost_r2",
    "CascadeClassifier": "cascade",
    "CalibratedClassifierCV": "calibrated",
    "VotingClassifier": "voting",
    "VotingRegressor": "voting",
    "OneVsRestClassifier": "multiclass",
    "OneVsOneClassifier": "multiclass",
    "MultiOutputRegressor": "targets",
    "TransformedTargetRegressor": "targets",
    "StackingClassifier": "stacking",
    "StackingRegressor": "stacking",
    "GridSearchCV": "search.grid",
    "RandomizedSearchCV": "search.grid",
    "HalvingGridSearchCV": "search.halving",
    "HalvingRandomSearchCV": "search.halving",
    "ParameterGrid": "search.parameters",
    "ParameterSampler": "search.parameters",
}
