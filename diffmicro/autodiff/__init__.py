"""Derivative rules: values that are differentiated without how they were found."""
