"""Event-located stepping, periodic orbits, branches: motions of hybrid systems, whatever robot they belong to."""
