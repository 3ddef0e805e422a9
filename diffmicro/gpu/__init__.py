"""The GPU program of a device, read without a GPU: XLA's compiler for GPUs needs none.

`targets` describes GPUs, `program` reads what was compiled, `compiling` compiles a device's response and its
gradient for a target, and `doctor --target` prints what they say. No number here was measured on a GPU.
"""
