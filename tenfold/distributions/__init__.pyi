from tenfold.distributions.bernoulli import Bernoulli as Bernoulli
from tenfold.distributions.bernoulli import Beta as Beta
from tenfold.distributions.categorical import Categorical as Categorical
from tenfold.distributions.categorical import Dirichlet as Dirichlet
from tenfold.distributions.gaussian import MultivariateGaussian as MultivariateGaussian
from tenfold.distributions.information import conditional_entropy as conditional_entropy
from tenfold.distributions.information import entropy as entropy
from tenfold.distributions.information import joint_entropy as joint_entropy
from tenfold.distributions.information import kl_divergence as kl_divergence
from tenfold.distributions.information import mutual_information as mutual_information
from tenfold.distributions.samples import estimate_entropy as estimate_entropy
from tenfold.distributions.samples import estimate_kl_divergence as estimate_kl_divergence
from tenfold.distributions.samples import estimate_mutual_information as estimate_mutual_information
from tenfold.distributions.student import MultivariateT as MultivariateT
from tenfold.distributions.wishart import NormalInverseWishart as NormalInverseWishart

PUBLIC: dict[str, str]
