"""Work against the device's limits: each operator at its shapes, and the whole step."""
