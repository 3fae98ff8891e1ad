"""A stored run: a zarr group that is readable at every moment.

Words:

    block     members that one process claims, computes and writes together, once
    extent    a grid that the run was asked for; a run that grows has several
    lease     a claim on a block, kept alive by a heartbeat
    state     what is saved of a block that is not finished, lanes in flight included
    place     a folder, or a prefix in an object store

`work` is what a process does with a run, `layout` how a run lies on disk, `blocks` what
one process holds of it, `extents` which row belongs to which member.  `creation` and
`compatible` begin a run or refuse one of another configuration, `watch` tells whether
it is still there, `checkpoint` saves lanes, `lease` shares blocks, `interrupt` stops in
time.
"""
