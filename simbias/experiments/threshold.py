"""The optimisation threshold: beyond some n, wide ReLU networks stop interpolating.

Two-layer networks from a small initialisation, trained on y = β*·x + σ η.  With few
samples they interpolate and generalise badly; with many they end at a stationary point
close to the least-squares line, with a train error just below σ² although m ≫ n.

The paper fixes neither the law of x nor β*, σ and λ; ours are x ~ N(0, I),
β* = (1, …, 1)/√d, σ = 0.3, and balanced neurons with λ = 1e-3.

Reference: Boursier & Flammarion (2024), arXiv:2410.02348, figure 1 and appendix A.
"""
