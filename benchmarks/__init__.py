"""Speed, as ratios to C that is compiled on this machine: `python -m benchmarks`, `make bench`."""
