"""Parts of the exact flow of ReLU networks.

A *plane* is the hyperplane w·x = 0 of a sample (of all that share it).  A neuron
*slides* on planes that push it back from both sides, and a *trajectory* is its way
through a step under given residuals.  The *moment* of a neuron is M = −Σ rᵢ xᵢ over its
active samples, the D of the theory: w' = aM, a' = w·M.  Neurons of one activation
*class* have the same pattern and slide on the same planes; a *ray* is a class of one
direction, a *bundle* one of several.

One attempt (`attempt.attempted`) is `event_step.attempt_step`: `integrate_step` with
the pattern frozen, `crossings` of planes decided by `event_rules`, `releases` of
neurons that slide.  There are three cheaper ways: a basis of each class in place of its
neurons (`class_basis`), an aggregated network of few neurons (`aggregation`), and
neurons that do not interact yet (`noninteracting`), each exactly along rays between
planes (`exact_rays`) or over many planes at a time (`batched_crossings`).
"""
