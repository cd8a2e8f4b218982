"""What several algorithms share: checks of arguments, random numbers, loops, and counts."""
