from sklearn.base import clone
from sklearn.linear_model import Lasso
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

pipe = Pipeline([("scale", StandardScaler()), ("lasso", Lasso(alpha=0.3))])
pipe.set_params(lasso__alpha=0.7, scale__with_mean=False)
copied = clone(pipe)
result = {
    "alpha": copied.get_params()["lasso__alpha"], "mean": copied.named_steps["scale"].with_mean, "names": [n for n, _ in copied.steps],
    "part": len(pipe[:1]), "same": copied["lasso"] is not pipe["lasso"],
}
