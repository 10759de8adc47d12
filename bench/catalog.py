"""All workloads by name, in the order in which they run."""

from __future__ import annotations

from functools import partial

from . import (
    boosting,
    codes,
    densities,
    density,
    ensemble,
    evaluate,
    features,
    forest,
    generative,
    glm,
    hierarchy,
    ica,
    kernel_machines,
    large_csv,
    linear,
    local,
    machines,
    manifold,
    margins,
    near,
    neighbors,
    nmf,
    online,
    prepare,
    pursuit,
    robust,
    search,
    small,
    sparse,
    startup,
    streaming,
    text,
    unsupervised,
)
from .plan import Entry, Workload
from .race import race

LINEAR = (linear, glm, sparse, pursuit, robust, local, margins, online)
CLUSTERS = (unsupervised, hierarchy, density)
OTHERS = (
    *CLUSTERS, densities, near, neighbors, generative, kernel_machines, machines, manifold, ica, nmf, evaluate, ensemble, boosting, forest,
    search, features, prepare, codes, text,
)  # fmt: skip
RACES: dict[str, Workload] = {w.name: w for module in (*LINEAR, *OTHERS) for w in module.WORKLOADS}

CATALOG: dict[str, Entry] = {w.name: Entry(w.name, w.about, partial(race, w)) for w in RACES.values()}
CATALOG |= {entry.name: entry for entry in (small.ENTRY, startup.ENTRY, streaming.ENTRY, large_csv.ENTRY)}
