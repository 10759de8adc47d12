"""Random forests and extremely randomised trees."""
