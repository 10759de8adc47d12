from tenfold.kernels.combined import CompoundKernel as CompoundKernel
from tenfold.kernels.combined import Exponentiation as Exponentiation
from tenfold.kernels.combined import Product as Product
from tenfold.kernels.combined import Sum as Sum
from tenfold.kernels.constant import ConstantKernel as ConstantKernel
from tenfold.kernels.constant import WhiteKernel as WhiteKernel
from tenfold.kernels.function import FunctionKernel as FunctionKernel
from tenfold.kernels.kernel import Hyperparameter as Hyperparameter
from tenfold.kernels.kernel import Kernel as Kernel
from tenfold.kernels.mercer import mercer_check as mercer_check
from tenfold.kernels.named import PairwiseKernel as PairwiseKernel
from tenfold.kernels.named import pairwise_kernels as pairwise_kernels
from tenfold.kernels.products import DotProduct as DotProduct
from tenfold.kernels.products import Polynomial as Polynomial
from tenfold.kernels.stationary import RBF as RBF
from tenfold.kernels.stationary import ExpSineSquared as ExpSineSquared
from tenfold.kernels.stationary import Laplacian as Laplacian
from tenfold.kernels.stationary import Matern as Matern
from tenfold.kernels.stationary import RationalQuadratic as RationalQuadratic

PUBLIC: dict[str, str]
