"""Messages, wanted or not: TF-IDF of their words before logistic regression and before naive Bayes.

The table has a column of texts and one of two labels. Ten folds: each learns its words from the other nine. Then the words that say most.

    python examples/messages.py sms_spam.csv.gz [--text text] [--target target]
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import polars

import tenfold


def main(arguments: list[str] | None = None) -> dict[str, float]:
    """Compare both models on a table; returns their areas under the ROC curve."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table")
    parser.add_argument("--text", default="text")
    parser.add_argument("--target", default="target")
    asked = parser.parse_args(arguments)
    frame = polars.read_csv(asked.table)
    texts, labels = frame[asked.text], frame[asked.target].to_numpy()
    found = {}
    for last in (tenfold.LogisticRegression(), tenfold.MultinomialNB()):
        model = tenfold.make_pipeline(tenfold.TfidfVectorizer(), last)
        began = time.perf_counter()
        result = tenfold.cross_validate(model, texts, labels, folds=10, scoring="roc_auc")
        found[type(last).__name__] = float(result.mean)
        print(f"{type(last).__name__}: area under the ROC curve {result.mean:.4f}, ten folds in {time.perf_counter() - began:.1f} s")
    words, line = tenfold.TfidfVectorizer(min_df=5), tenfold.LogisticRegression()
    line.fit(words.fit_transform(texts), labels)
    order, names = np.argsort(line.coef_[0]), words.get_feature_names_out()
    for label, places in zip(line.classes_, (order[:8], order[:-9:-1]), strict=True):
        print(f"{label}: {', '.join(names[places])}")
    return found


if __name__ == "__main__":
    main()
