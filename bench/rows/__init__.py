"""What is measured: one file per family of rows, each with a `measure()`."""
