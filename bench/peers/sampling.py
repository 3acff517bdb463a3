"""Timing one prepared variant of a peer, in its own process."""
import os
import resource
import time

import numpy as np

from data import bits


def waited_ns():
    """Time that this process's threads have spent waiting for a core."""
    total = 0
    for t in os.listdir("/proc/self/task"):
        try:
            with open(f"/proc/self/task/{t}/schedstat") as f:
                total += int(f.read().split()[1])
        except OSError:
            pass
    return total


class Runner:
    """One prepared variant: verified, then sampled. Samples during which a thread of ours waited in the run queue are
    set aside, and used only when there are fewer than three clean ones."""

    def __init__(self, name, make, note, D, check):
        t0 = time.perf_counter()
        self.name, self.note, self.D = name, note, D
        self.call, result = make()
        self.call(0)
        self.first_call_s = time.perf_counter() - t0
        self.mismatch = check(result())
        del result
        self.next, self.samples, self.disturbed = 0, [], []
        self.inner, self.calls, self.faults = 1, 0, 0
        self.est = self.sample()

    def sample(self):
        """ns per call over `inner` calls."""
        n, K, call, first = self.inner, self.D.K, self.call, self.next
        self.next += n
        seq = [(first + i) % K for i in range(n)]
        t0 = time.perf_counter_ns()
        for j in seq:
            call(j)
        return (time.perf_counter_ns() - t0) / n

    def measure(self, budget):
        """Samples for so many seconds, and counts the pages that the system had to provide."""
        before, first = resource.getrusage(resource.RUSAGE_SELF).ru_minflt, self.next
        self.take_samples(budget)
        self.faults += resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
        self.calls += self.next - first

    def take_samples(self, budget):
        self.est = min(self.est, self.sample())
        self.inner = max(1, min(5000, int(2e6 / self.est)))
        end = time.perf_counter() + budget
        while True:
            w = waited_ns()
            x = self.sample()
            self.est = min(self.est, x)
            clean = waited_ns() - w < 0.01 * x * self.inner + 5000
            (self.samples if clean else self.disturbed).append(x)
            if time.perf_counter() > end + (0 if clean else 4 * budget):
                return
            if time.perf_counter() > end and self.samples:
                return

    def report(self):
        few = len(self.samples) < 3
        xs = self.samples + self.disturbed if few else self.samples
        low, high = np.percentile(xs, [25, 75])
        return dict(spread=float(high - low), faults=self.faults / max(1, self.calls), variant=self.name, note=self.note, mismatch=self.mismatch, first_call_s=round(self.first_call_s, 4),
                    min=min(xs), median=float(np.median(xs)), samples=len(xs), disturbed=len(self.disturbed) if few else 0)


def check_against(D):
    ref = D.result()

    def check(got):
        """Elements that differ."""
        got = got[:-1] if D.c["skip"] else got
        return int(np.count_nonzero(bits(np.asarray(got)).reshape(ref.shape) != bits(ref)))
    return check
