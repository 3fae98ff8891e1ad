"""Parts of the exact flow of ReLU networks.

A *plane* is the hyperplane w·x = 0 of a sample, or of several samples on one line.  A
neuron *slides* on a plane that pushes it back from both sides (attracting sliding in
the sense of Filippov); p *slots* per neuron list these planes.  A *trajectory* is the
path of a neuron through a step under given residuals.

The *moment* of a neuron is M = −Σ rᵢ xᵢᵀ over its active samples, and its *drive* is
D = Mᵀa: off all planes w' = D and a' = M w.  The *pull* of a plane is R = Σ |xᵢ| rᵢ
over its samples.  A neuron that crosses it upwards changes M by −(1 − s) R uᵀ, with u
the unit normal and s the negative slope.

Neurons of one activation *class* have the same pattern and slide on the same planes.  A
*ray* is a class of one direction, a *bundle* is a class of several directions.  A
*member* is one of the networks that are simulated at once.

`controlled_step` makes one attempt (`attempt_step`), accepts or rejects it, and
proposes the next length.  An attempt has three parts: `integrate_step` with the pattern
frozen, `crossings` of planes as `event_rules` decide, and `releases` of sliding
neurons.

There are three cheaper ways:

- `class_basis`: a few representatives of each class move in place of its neurons.
- `aggregation`: a network of few neurons moves in place of a wide one.
- `noninteracting`: neurons that do not interact yet are integrated exactly, along
  straight lines between planes (`straight_lines`) or over many planes at a time
  (`batched_crossings`).
"""
