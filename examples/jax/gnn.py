#!/usr/bin/env python3
"""Training a graph network written in plain JAX: by JAX alone, with strew.jax.enable(), and by strew.jax.jit. The losses and the weights are the same bits.

    gnn.py [BUILD] [--full] [--steps N]

A layer multiplies rows by a matrix, looks up the row of each edge's source, weighs it, and adds it to the edge's target. The gradient does the same along the reversed edges.

Run by ctest as example_jax_gnn, with a small graph. `--full`: 10,000 nodes, 300,000 edges. Exit status 1: other bits, or strew ran nothing.
"""
import argparse
import sys
import time

try:
    import jax
    import jax.numpy as jnp
    import numpy as np
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

import strew.jax

WIDTH, LAYERS, CLASSES = 64, 2, 8


def layer(x, weight, source, target, per_edge):
    hidden = x @ weight
    return jnp.zeros_like(hidden).at[target].add(hidden[source] * per_edge[:, None])


def loss_of(weights, x, labels, source, target, per_edge):
    for weight in weights[:-1]:
        x = jnp.maximum(layer(x, weight, source, target, per_edge), 0)
    scores = layer(x, weights[-1], source, target, per_edge)
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(scores), labels[:, None], 1))


def step(weights, *given):
    loss, gradients = jax.value_and_grad(loss_of)(weights, *given)
    return [weight - gradient for weight, gradient in zip(weights, gradients, strict=True)], loss


def arguments_of(nodes, edges):
    rng = np.random.default_rng(0)
    source, target = rng.integers(0, nodes, (2, edges)).astype(np.int32)
    degree = np.maximum(np.bincount(target, minlength=nodes), 1)
    per_edge = (1 / np.sqrt(degree[source] * degree[target])).astype(np.float32)
    widths = [WIDTH] * LAYERS + [CLASSES]
    weights = [(rng.standard_normal((a, b)) / np.sqrt(a)).astype(np.float32) for a, b in zip([WIDTH, *widths], widths, strict=False)]
    x, labels = rng.standard_normal((nodes, WIDTH)).astype(np.float32), rng.integers(0, CLASSES, nodes).astype(np.int32)
    return jax.tree.map(jnp.asarray, (weights, x, labels, source, target, per_edge))


def train(jit, arguments, steps):
    """The losses, the weights, and the seconds of a step after the first."""
    weights, *given = arguments
    jitted, losses = jit(step), []
    for number in range(steps):
        if number == 1:
            started = time.perf_counter()
        weights, loss = jitted(weights, *given)
        losses.append(float(loss))
    return losses, [np.asarray(each).tobytes() for each in weights], (time.perf_counter() - started) / (steps - 1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", nargs="?")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--steps", type=int, default=5)
    options = parser.parse_args()
    arguments, right, expected = arguments_of(*((10_000, 300_000) if options.full else (300, 4_000))), True, None
    for way, jit in (("JAX", jax.jit), ("strew.jax.enable()", jax.jit), ("strew.jax.jit", strew.jax.jit)):
        (strew.jax.enable if way == "strew.jax.enable()" else strew.jax.disable)()
        *got, seconds = train(jit, arguments, options.steps)
        expected = expected or got
        right &= got == expected
        print(f"{way:<20} {seconds * 1e3:8.2f} ms a step, last loss {got[0][-1]:.6f}, " + ("the same bits" if got == expected else "OTHER BITS"), flush=True)
    strew.jax.disable()
    report = strew.jax.report()
    print(report)
    by_strew = {module.level for module in report.modules if module.module == "jit_step" and module.replaced}
    return 0 if right and by_strew == {"operators", "fused"} else 1


if __name__ == "__main__":
    sys.exit(main())
