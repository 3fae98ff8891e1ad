"""Thousands of members at once: from an experiment to the table of its results.

Words, from the question to the machine:

    cell      values of the arguments of `make`, one point of the grid
    member    one network on one sample: a cell and a seed; members are numbered
    group     members of one shape, which share compiled programs
    lane      a member in motion: data, weights, records so far; lanes are stacked
    round     one call of a compiled program, in which lanes advance
    station   a thread that drives one device (on a CPU one core) round by round
    layout    how a round treats its lanes: in turn, or side by side

Files in the order in which data passes them: `grid` (cells), `keys`, `members` (how one
is made), `shapes` and `plan` (what the run will be, without running it), `memory`,
`programs` (begin, advance, take), `lane` (the only place where the member axis is
added), `pace`, `engine` (the stations), `events` (what they hand over), `table`, `bar`.
Beside them: `fields` (those of a flow), `leaves` (networks that are kept), `tuples` and
`configuration` (an experiment as plain data), `measurement` and `tracing` (what is
refused, by name, once it is traced).
"""
