"""Texts as rows of numbers: counts of words and characters, weighed or hashed."""

# Public name -> the module of this folder that defines it. After a new line: python tools/generate
PUBLIC = {
    "CountVectorizer": "counts",
    "TfidfTransformer": "tfidf",
    "TfidfVectorizer": "tfidf",
    "HashingVectorizer": "hashing",
}
