from tenfold.draw.attribution import draw_attributions as draw_attributions
from tenfold.draw.bias_variance import draw_bias_variance as draw_bias_variance
from tenfold.draw.calibration import draw_calibration as draw_calibration
from tenfold.draw.clusters import draw_neighbor_distances as draw_neighbor_distances
from tenfold.draw.coefficients import draw_coefficients as draw_coefficients
from tenfold.draw.confusion import draw_confusion as draw_confusion
from tenfold.draw.curves import draw_learning_curve as draw_learning_curve
from tenfold.draw.curves import draw_validation_curve as draw_validation_curve
from tenfold.draw.dependence import draw_dependence as draw_dependence
from tenfold.draw.features import draw_elimination as draw_elimination
from tenfold.draw.features import draw_feature_scores as draw_feature_scores
from tenfold.draw.fit import draw_fit as draw_fit
from tenfold.draw.gains import draw_gains as draw_gains
from tenfold.draw.importance import draw_importance as draw_importance
from tenfold.draw.influence import draw_leverage as draw_leverage
from tenfold.draw.influence import draw_qq as draw_qq
from tenfold.draw.influence import draw_weights as draw_weights
from tenfold.draw.ranking import draw_precision_recall as draw_precision_recall
from tenfold.draw.ranking import draw_roc as draw_roc
from tenfold.draw.residuals import draw_residuals as draw_residuals
from tenfold.draw.search import draw_search as draw_search
from tenfold.draw.tree import draw_tree as draw_tree
from tenfold.draw.validation import draw_folds as draw_folds
from tenfold.draw.validation import draw_path as draw_path

PUBLIC: dict[str, str]
