"""Curves, circles and local fits."""

# Public name -> the module of this folder that defines it. After a new line: python tools/generate
PUBLIC = {
    "CurveFit": "curve_fit",
    "CircleFit": "circle",
    "KernelRegressor": "kernel_regression",
}
