"""Tests the times of the hardware watchdog."""

import re
import unittest
from pathlib import Path

SETTINGS = Path(__file__).parents[1] / "files/etc/systemd/system.conf.d/rookery.conf"


class Watchdog(unittest.TestCase):
    def test_the_counter_of_a_pi_never_gets_a_short_remainder(self):
        times = dict(re.findall(r"(?m)^(\w+WatchdogSec)=([0-9]+)$", SETTINGS.read_text(encoding="utf-8")))
        self.assertEqual(set(times), {"RuntimeWatchdogSec", "RebootWatchdogSec"})
        for name, seconds in times.items():
            # The kernel resets the counter every 8 s.
            self.assertGreaterEqual(int(seconds) % 16, 14, name)
            self.assertGreater(int(seconds), 60, name)


if __name__ == "__main__":
    unittest.main()
