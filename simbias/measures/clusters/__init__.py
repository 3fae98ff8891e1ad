"""On how many directions the neurons stand."""
