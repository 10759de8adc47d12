from sklearn.datasets import load_wine
from sklearn.metrics import classification_report, confusion_matrix, f1_score
from sklearn.naive_bayes import GaussianNB

wine = load_wine()
guess = GaussianNB().fit(wine.data[::2], wine.target[::2]).predict(wine.data)
text = classification_report(wine.target, guess, target_names=wine.target_names)
table = classification_report(wine.target, guess, output_dict=True)
print(text)
result = {
    "words": text.split(), "isstr": isinstance(text, str), "f1": f1_score(wine.target, guess, average="macro"),
    "recall": table["macro avg"]["recall"], "matrix": confusion_matrix(wine.target, guess, normalize="true"),
}
