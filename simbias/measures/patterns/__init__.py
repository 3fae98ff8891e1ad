"""Which neurons are active on which samples."""
