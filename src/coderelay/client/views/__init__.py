"""Events in the shapes that programs outside know."""
