"""Parts of the exact flow of deep ReLU networks.

A *unit* is a pre-activation z of a layer with ReLU or leaky ReLU, an *entry* is a unit
on one sample, e = sample · units + unit.  An entry is on one of two *sides*, z > 0 or
z < 0, or *pinned* at z = 0, where the flow slides.  Pinned entries stand in *slots*.
The gates of all entries fixed, the loss is smooth.

With the gates of the pinned entries at 0, ∇L = C + Σ μ_p A_p, where A_p = ∇z_p and
μ_p = ∂L/∂z_p = s_p g_p, g_p = ∂L/∂h_p.  The field is the projection of −C off the
normals A_p, and sliding goes on while slope · g_p ≤ μ_p ≤ g_p.

`attempt_step` makes one step with fixed gates, cuts it at the first event, and has
`decide` choose the sides and pins from there on.
"""
