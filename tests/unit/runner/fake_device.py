"""A device in simulated time: the host issues work that the device does later, in order."""


class FakeDevice:
    """A clock for `Stepper` on which nothing passes but what a step says it costs, in microseconds."""

    def __init__(self, *, is_synchronous=False):
        self.is_synchronous = is_synchronous
        self.host_us = 0.0
        self.device_us = 0.0
        self.num_drains = 0

    def issue(self, *, host_us, device_us):
        """Spend `host_us` on the host, then queue `device_us` of work."""
        self.host_us += host_us
        if self.is_synchronous:
            self.host_us += device_us
        else:
            self.device_us = max(self.device_us, self.host_us) + device_us

    def now_us(self):
        return self.host_us

    def drain(self):
        self.num_drains += 1
        self.host_us = max(self.host_us, self.device_us)

    def start(self):
        self.drain()

    def mark(self):
        return max(self.device_us, self.host_us)

    def reached_us(self, mark):
        return mark
