"""A task for each bias of simplicity, all of one shape, with inputs of four laws."""
