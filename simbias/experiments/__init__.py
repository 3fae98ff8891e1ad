"""One phenomenon per file: `experiment()`, `figure(ds)`, `claims(ds)`."""
