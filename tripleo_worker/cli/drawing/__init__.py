"""The drawing of progress: state (``view``) apart from pictures, every clock passed in."""
