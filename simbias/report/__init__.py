"""One self-contained page of HTML about a run: its answer, its claims, its figures."""
