"""Random inputs through the door of `evaluate --points`, and the laws that every answer has to keep."""
