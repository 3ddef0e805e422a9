"""Physical laws, one family a file: contact, friction, beams, linkages, magnetics, outlines."""
