"""Parts and topics: what adds up and never cancels.

Principal components of handwritten digits have signs: a digit is strokes put on and strokes taken away, and no component looks like a
piece of a digit. Without values below zero nothing can be taken away, and the components of a non-negative factorisation are pieces:
arcs, bars and hooks that lie side by side. The same holds of texts: counts of words are sums of topics, and each topic is a list of
words that come together.

    python examples/parts_and_topics.py [picture.png]
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

import tenfold

Array = np.ndarray[Any, Any]
PARTS = 16

TEXTS = [
    "The goalkeeper saved the penalty and the team won the match.",
    "Two goals in the last minutes gave the team the match and the cup.",
    "The coach praised the goalkeeper after the match for the saved penalty.",
    "The striker scored two goals, and the coach sang of the cup.",
    "Stir the flour into the butter and bake the dough in the oven.",
    "Bake the cake in a hot oven until the sugar on the dough is brown.",
    "Beat the butter with sugar, then stir in flour and salt.",
    "Salt the dough, let it rest, and heat the oven for the cake.",
    "The telescope saw a comet between the planet and its moon.",
    "A planet around a distant star was found with the telescope.",
    "The moon hides the star, and the comet fades in its light.",
    "Light of the star reaches the telescope before the comet does.",
]


def parts(X: Array, shape: tuple[int, int], axes: Any) -> dict[str, float]:
    """Sixteen components each way, and how much of the squares they leave."""
    pca, nmf = tenfold.PCA(PARTS).fit(X), tenfold.NMF(PARTS, init="nndsvd", tol=1e-2).fit(X)
    for model, ax, title in (
        (pca, axes[0], "principal components: strokes put on and taken away"),
        (nmf, axes[1], "non-negative factorisation: parts"),
    ):
        tenfold.draw.draw_components(model, shape, columns=4, ax=ax).set_title(title, fontsize=9)
    total = float(((X - X.mean(axis=0)) ** 2).sum())
    left = {"PCA": pca.inverse_transform(pca.transform(X)), "NMF": nmf.inverse_transform(nmf.transform(X))}
    return {name: float(((X - back) ** 2).sum()) / total for name, back in left.items()}


def topics(texts: list[str], k: int, words: int = 5) -> tuple[list[list[str]], Array]:
    """The leading words of each topic, and the share of each topic in each text. The Kullback-Leibler divergence is that of counts."""
    counter = tenfold.CountVectorizer(stop_words="english", min_df=2)
    model = tenfold.NMF(k, beta_loss="kullback-leibler", solver="mu", max_iter=400)
    W = model.fit_transform(counter.fit_transform(texts))
    names = counter.get_feature_names_out()
    leading = [[str(names[j]) for j in np.argsort(-row, kind="stable")[:words]] for row in model.components_]
    mass = W * model.components_.sum(axis=1)
    return leading, mass / mass.sum(axis=1, keepdims=True)


def main(picture: str | None = None) -> dict[str, Any]:
    from matplotlib.figure import Figure
    from sklearn.datasets import load_digits

    digits = load_digits()
    figure = Figure(figsize=(9.6, 5.2), layout="constrained")
    left = parts(digits.data, (8, 8), figure.subplots(1, 2))
    leading, shares = topics(TEXTS, 3)
    for name, share in left.items():
        print(f"{PARTS} components by {name} leave {100 * share:.0f} % of the variance of the digits")
    for i, words in enumerate(leading):
        texts = [str(number + 1) for number, one in enumerate(shares.argmax(axis=1)) if one == i]
        print(f"topic {i + 1}: {', '.join(words)}; most of texts {', '.join(texts)}")
    if picture:
        figure.savefig(picture, dpi=120)
    return {"left": left, "topics": leading, "shares": shares}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("picture", nargs="?", help="a file to draw the components to")
    main(parser.parse_args().picture)
