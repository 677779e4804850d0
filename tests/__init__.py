"""The tests, as a package: its helpers are imported by name, and two of its modules are commands."""
