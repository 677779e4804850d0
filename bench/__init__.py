"""What parsing costs: toolglot, its peers and the floors, on the same texts in the same run."""
