"""Bootstrap steps that are more than one call of a service's own tool; all may be repeated."""
