"""Kinds of events that exact flows write down."""

import enum


class EventKind(enum.IntEnum):
    """What a neuron does at an activation boundary, 0 for nothing; up is z > 0."""

    CROSSES_UP = 1
    CROSSES_DOWN = 2
    SLIDES = 3
    LEAVES_UP = 4
    LEAVES_DOWN = 5
