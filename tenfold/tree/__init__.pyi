from tenfold.tree.boosting.gradient import GradientBoostingClassifier as GradientBoostingClassifier
from tenfold.tree.boosting.gradient import GradientBoostingRegressor as GradientBoostingRegressor
from tenfold.tree.boosting.hist_boosting import HistGradientBoostingClassifier as HistGradientBoostingClassifier
from tenfold.tree.boosting.hist_boosting import HistGradientBoostingRegressor as HistGradientBoostingRegressor
from tenfold.tree.forest.embedding import RandomTreesEmbedding as RandomTreesEmbedding
from tenfold.tree.forest.forest import ExtraTreesClassifier as ExtraTreesClassifier
from tenfold.tree.forest.forest import ExtraTreesRegressor as ExtraTreesRegressor
from tenfold.tree.forest.forest import RandomForestClassifier as RandomForestClassifier
from tenfold.tree.forest.forest import RandomForestRegressor as RandomForestRegressor
from tenfold.tree.single.c45 import C45Classifier as C45Classifier
from tenfold.tree.single.decision import DecisionTreeClassifier as DecisionTreeClassifier
from tenfold.tree.single.decision import DecisionTreeRegressor as DecisionTreeRegressor
from tenfold.tree.single.extra import ExtraTreeClassifier as ExtraTreeClassifier
from tenfold.tree.single.extra import ExtraTreeRegressor as ExtraTreeRegressor
from tenfold.tree.single.id3 import ID3Classifier as ID3Classifier
from tenfold.tree.structure.export import export_graphviz as export_graphviz
from tenfold.tree.structure.export import export_text as export_text
from tenfold.tree.structure.export import plot_tree as plot_tree

PUBLIC: dict[str, str]
