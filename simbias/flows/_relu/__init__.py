"""Parts of the exact flow of ReLU networks.

A *plane* is the hyperplane w·x = 0 of a sample (of all that share it); a neuron is
*pinned* to those on which it slides.  A *course* is a neuron's way under residuals that
are given, a *leg* its part between two events.  The *moment* of a neuron is
M = −Σ rᵢ xᵢ over its active samples, the D of the theory: w' = aM, a' = w·M.  The
*class* (`kind`) of a neuron is its pattern and its pins; a *ray* is a class of one
direction, a *bundle* one of several.  *Leaders* stand for all neurons of their classes,
which are *led*; they *stray* where a neuron that is led might meet a plane.  *Alone* is
a step in which no neuron feels another, *together* one in which all of them do;
`trust` shortens steps alone after one whose error was too large.
"""
