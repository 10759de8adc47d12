from sklearn.datasets import load_iris
from sklearn.ensemble import VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

X, y = load_iris(return_X_y=True)
vote = VotingClassifier([("lr", LogisticRegression(tol=1e-8, max_iter=2000)), ("nb", GaussianNB())], voting="soft", weights=[2, 1])
vote.fit(X, y)
result = {"shares": vote.predict_proba(X), "labels": vote.predict(X), "single": vote.named_estimators_["nb"].predict(X)}
rtol, atol = 1e-3, 1e-4
