"""Laws of data: one function (key, *, sizes, numbers) -> Dataset per file."""
