"""Commands that are stopped at random moments, and files and disks that do not do what they should."""
