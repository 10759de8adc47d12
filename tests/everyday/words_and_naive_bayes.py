import numpy as np
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB
from sklearn.pipeline import Pipeline, make_pipeline

rng = np.random.default_rng(0)
words = {"sport": ["match", "goal", "team", "win", "league"], "money": ["bank", "rate", "stock", "win", "market"]}
topics = np.array(["sport", "money"])[np.arange(80) % 2]
texts = [" ".join(rng.choice(words[topic] + ["the", "a", "of", "today"], 8)).capitalize() + "." for topic in topics]

counts = CountVectorizer(ngram_range=(1, 2), min_df=2)
X = counts.fit_transform(texts)
weights = TfidfTransformer().fit(X)
pipeline = Pipeline([("vect", CountVectorizer()), ("tfidf", TfidfTransformer()), ("clf", MultinomialNB())])
search = GridSearchCV(pipeline, {"vect__ngram_range": [(1, 1), (1, 2)], "clf__alpha": [0.01, 1.0]}, cv=4).fit(texts, topics)
hashed = make_pipeline(HashingVectorizer(n_features=256, alternate_sign=False), ComplementNB()).fit(texts, topics)
result = {
    "names": counts.get_feature_names_out(),
    "counts": X.toarray(),
    "idf": weights.idf_,
    "search": search.cv_results_["mean_test_score"],
    "scores": cross_val_score(make_pipeline(TfidfVectorizer(sublinear_tf=True), BernoulliNB()), texts, topics, cv=4),
    "new": pipeline.fit(texts, topics).predict_proba(["the team wins the league", "market rates", ""]),
    "hashed": hashed.predict(["goal goal", "stock market"]),
}
