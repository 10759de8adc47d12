"""Clusters of rows."""

# Public name -> the module of this folder that defines it. After a new line: python tools/generate
PUBLIC = {
    "linkage": "linkage",
    "AgglomerativeClustering": "agglomerative",
    "FeatureAgglomeration": "feature_agglomeration",
    "DBSCAN": "dbscan",
    "HDBSCAN": "hdbscan",
    "KMeans": "kmeans",
    "KMedoids": "kmedoids",
    "KPlanes": "planes",
    "MeanShift": "mean_shift",
    "estimate_bandwidth": "bandwidth",
    "MiniBatchKMeans": "mini_batch",
    "SoftKMeans": "soft",
}
