"""Embeddings: places of rows in few dimensions that keep who is near whom."""

# Public name -> the module of this folder that defines it. After a new line: python tools/generate
PUBLIC = {
    "ClassicalMDS": "classical_mds",
    "Isomap": "isomap",
    "LocallyLinearEmbedding": "locally_linear",
    "MDS": "mds",
    "TSNE": "tsne",
    "smacof": "smacof",
}
