from tenfold.distributions.bernoulli import Bernoulli as Bernoulli
from tenfold.distributions.bernoulli import Beta as Beta
from tenfold.distributions.categorical import Categorical as Categorical
from tenfold.distributions.categorical import Dirichlet as Dirichlet
from tenfold.distributions.gaussian import MultivariateGaussian as MultivariateGaussian
from tenfold.distributions.student import MultivariateT as MultivariateT
from tenfold.distributions.wishart import NormalInverseWishart as NormalInverseWishart

PUBLIC: dict[str, str]
