"""An implicit Runge–Kutta method for gradient flows at late times."""

import diffrax
import optimistix

# Newton's iterations with tolerances of their own fail late, and steps shrink without
# end.  With those of the step 250 attempts reached t = 1e5, where 6000 did not before.
LATE_TIMES = diffrax.Kvaerno5(
    root_finder=diffrax.with_stepsize_controller_tols(optimistix.Chord)()
)
