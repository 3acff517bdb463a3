#!/usr/bin/env python3
"""Bags of rows of an embedding table, with padding and weights, and the gradient of the table (docs/fusion.md).

Forward, over the elements e of the input that are no padding: bags[bag[e]] += table[input[e]] * weights[e]. Backward: the same op with source and
destination exchanged, gradient[input[e]] += bag_gradients[bag[e]] * weights[e]. Neither makes a tensor of rows.

Run by ctest as example_embedding_bag: it exits 1 when a result differs from NumPy's in a bit, or a bad index is not refused.
"""
import sys

import numpy as np

import strew

ROWS, WIDTH, BAGS, LONGEST, PADDING = 5000, 64, 256, 40, 0


def main():
    random = np.random.default_rng(1)
    table = random.standard_normal((ROWS, WIDTH), np.float32)
    bag_gradients = random.standard_normal((BAGS, WIDTH), np.float32)
    # Products with these are exact, so that rounding a product and its sum once, as embedding_bag does, gives the bits of NumPy's two operations.
    weights = random.choice(np.array([0.25, 0.5, 1, 2], np.float32), (BAGS, LONGEST))
    # Bags of 0 to LONGEST rows, filled up with the row that stands for padding.
    rows = random.integers(1, ROWS, (BAGS, LONGEST), np.int32)
    rows[np.arange(LONGEST) >= random.integers(0, LONGEST + 1, (BAGS, 1))] = PADDING

    bags = strew.embedding_bag(rows, table, mode="sum", per_sample_weights=weights, padding_idx=PADDING)

    # What NumPy needs for the same: the elements that are no padding, and a row in memory for each.
    bag, column = np.nonzero(rows != PADDING)
    source, factors = rows[bag, column], weights[bag, column]
    expected = np.zeros_like(bags)
    np.add.at(expected, bag, table[source] * factors[:, None])

    gradient = strew.spmm(source, bag, bag_gradients, factors, num_rows=ROWS)
    expected_gradient = np.zeros_like(table)
    np.add.at(expected_gradient, source, bag_gradients[bag] * factors[:, None])

    right = True
    for what, array, other in [("bags", bags, expected), ("gradient of the table", gradient, expected_gradient)]:
        same = array.tobytes() == other.tobytes()
        print(f"{what}: {'equal to' if same else 'DIFFERS FROM'} NumPy's, bit for bit")
        right &= same
    # The gradient belongs to the forward pass: <bag_gradients, bags(table)> = <gradient, table>, up to rounding.
    forward, backward = np.vdot(bag_gradients.astype(float), bags.astype(float)), np.vdot(gradient.astype(float), table.astype(float))
    print(f"<bag gradients, bags> = {forward:.4f}, <gradient, table> = {backward:.4f}")
    right &= bool(np.isclose(forward, backward, rtol=1e-4))
    print(f"{source.size} rows of {WIDTH} float32 were read: a tensor of them has {source.size * WIDTH * 4 / 1e6:.1f} MB, in each direction; none was made")

    rows[7, 3] = ROWS  # a row that the table does not have: the call says where, and writes nothing
    before = bags.copy()
    try:
        strew.embedding_bag(rows, table, mode="sum", per_sample_weights=weights, padding_idx=PADDING, out=bags)
        print("a bad index was NOT REFUSED")
        right = False
    except strew.OutOfBoundsError as error:
        print(f"with a bad index: {error}")
        right &= bags.tobytes() == before.tobytes()
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
