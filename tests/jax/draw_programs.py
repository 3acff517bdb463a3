"""Drawn programs for programs_test.py: a few statements over tables of rows, messages (rows at edges) and indices, some of them in loops, branches, batches or gradients."""
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

STATEMENTS = ("gather", "gather", "gather", "scatter", "scatter", "scatter", "onto zeros", "onto zeros", "segments", "messages", "messages", "weights", "tables", "indices", "indices", "along",
              "slice", "update slice", "loop", "loop", "scan", "branch", "batch", "move", "call", "order", "sum", "points", "put along", "gradient", "product")
METHODS = ("set", "add", "add", "add", "subtract", "multiply", "min", "max")
OUTSIDE = ("drop", "clip", "fill", "promise_in_bounds")


class Program:
    """A function of `arguments`: two tables [rows, width], messages [edges, width], weights [edges], three lists of indices [edges], and a number that is an index."""

    def __init__(self, rng):
        self.dtype = rng.choice(("float32",) * 6 + ("bfloat16", "float16", "int32", "int32", "uint8"))
        self.rows, self.edges, self.width = int(rng.integers(1, 40)), int(rng.choice((1, 3, 17, 60))), int(rng.choice((1, 3, 8, 16, 33)))
        if rng.random() < 0.05:
            self.rows, self.edges, self.width = 500, 700, 48
        tables = [self.elements(rng, (self.rows, self.width)) for _ in range(2)]
        indices = [rng.integers(-self.rows - 1, self.rows + 2, self.edges).astype(np.int32) for _ in range(3)]
        self.arguments = [*tables, self.elements(rng, (self.edges, self.width)), self.elements(rng, (self.edges,)), *indices, np.int32(rng.integers(-2, self.rows + 2))]
        self.statements = [(str(rng.choice(STATEMENTS)), [int(n) for n in rng.integers(0, 60, 4)]) for _ in range(rng.choice((1, 1, 2, 2, 3)))]
        self.is_batch = rng.random() < 0.1
        if self.is_batch:
            self.arguments = [np.stack([each, np.roll(each, 1)]) if np.ndim(each) else each for each in self.arguments]

    def __repr__(self):
        return f"{self.dtype} [{self.rows}, {self.width}], {self.edges} edges, {'vmap of ' if self.is_batch else ''}{self.statements}"

    def elements(self, rng, dims):
        array = np.round(rng.standard_normal(dims) * 8) / 8 if rng.random() < 0.3 else rng.standard_normal(dims) * rng.choice([1, 30])
        if rng.random() < 0.2:
            array = np.where(rng.random(dims) < 0.1, rng.choice([0.0, -0.0, np.nan, np.inf, 1e-40, -2e-39, 3e-6]), array)
        if self.dtype == "bfloat16":  # XLA sometimes moves such numbers as float32, and then flushes the subnormal ones (docs/jax.md)
            array = np.where(np.abs(array) < 1.2e-38, np.copysign(0.0, array), array)
        if self.dtype in ("int32", "uint8"):
            array = np.abs(np.nan_to_num(array, posinf=3)) * 3
        with np.errstate(over="ignore"):
            return np.asarray(np.asarray(array, np.float32), jnp.dtype(self.dtype))

    def __call__(self, *arguments):
        function = jax.vmap(self.run, in_axes=[0 if np.ndim(each) else None for each in self.arguments]) if self.is_batch else self.run
        return function(*arguments)

    def run(self, *arguments):
        self.tables, self.messages, self.weights, self.indices, self.number = list(arguments[:2]), [arguments[2]], arguments[3], list(arguments[4:7]), arguments[7]
        self.others = []
        for word, numbers in self.statements:
            getattr(self, "do_" + word.replace(" ", "_"))(*numbers)
        return self.tables[2:] or self.tables[:1], self.messages[1:], self.indices[3:], self.others

    def table(self, n):
        return self.tables[-1 - n % len(self.tables)]

    def message(self, n):
        return self.messages[-1 - n % len(self.messages)]

    def index(self, n):
        return self.indices[-1 - n % len(self.indices)]

    def update(self, table, index, message, a, b):
        method, mode = METHODS[a % len(METHODS)], OUTSIDE[b % len(OUTSIDE)]
        return getattr(table.at[index], method)(message, mode=mode if b % 3 else None)

    def do_gather(self, a, b, c, d):
        table = self.table(a)
        if c % 3 == 0:
            self.messages.append(table.at[self.index(b)].get(mode=OUTSIDE[d % 4]))
        elif c % 3 == 1:
            self.messages.append(table[self.index(b)])
        else:
            self.messages.append(jnp.take(table, self.index(b), axis=0, mode=("fill", "clip", "wrap")[d % 3]))

    def do_scatter(self, a, b, c, d):
        self.tables.append(self.update(self.table(a), self.index(b), self.message(c), d, a + b))

    def do_onto_zeros(self, a, b, c, d):
        base = jnp.full((self.rows, self.width), (0, 0, 0, 1, -7)[d % 5], self.dtype) if self.dtype != "uint8" else jnp.zeros((self.rows, self.width), self.dtype)
        self.tables.append(base.at[self.index(b)].add(self.message(c)) if a % 3 else base.at[self.index(b)].max(self.message(c)))

    def do_segments(self, a, b, c, d):
        kind = (jax.ops.segment_sum, jax.ops.segment_max, jax.ops.segment_min, jax.ops.segment_prod)[d % 4]
        self.tables.append(kind(self.message(a), self.index(b), num_segments=self.rows))

    def do_messages(self, a, b, c, d):
        one, other = self.message(a), self.message(b)
        self.messages.append((lambda: one + other, lambda: one * other, lambda: jnp.maximum(one, other), lambda: jnp.where(one > other, one, -other), lambda: -one, lambda: abs(one),
                              lambda: one - 2, lambda: one.astype(jnp.float32).astype(self.dtype), lambda: jnp.maximum(one, 0) * 3)[c % 9]().astype(self.dtype))

    def do_weights(self, a, b, c, d):
        self.messages.append(self.message(a) * self.weights[:, None])

    def do_tables(self, a, b, c, d):
        one, other = self.table(a), self.table(b)
        self.tables.append((lambda: one + other, lambda: one * 2, lambda: jnp.maximum(one, 0).astype(self.dtype), lambda: jnp.where(one > 1, one, other), lambda: one * other - one)[c % 5]())

    def do_indices(self, a, b, c, d):
        i, j, n = self.index(a), self.index(b), self.rows
        self.indices.append((lambda: (i * 3 + 1) % n, lambda: i + j, lambda: jnp.where(i < 0, i + n, i), lambda: jnp.clip(i, 0, n - 1), lambda: jnp.argsort(i).astype(jnp.int32), lambda: abs(i) // 2,
                             lambda: i.astype(jnp.int8).astype(jnp.int32), lambda: jnp.where(j > i, i, j), lambda: i[jnp.clip(j, 0, self.edges - 1)], lambda: jnp.sort(i),
                             lambda: jnp.arange(self.edges, dtype=jnp.int32) + self.number)[c % 11]())

    def do_along(self, a, b, c, d):
        places = (jnp.arange(self.rows * self.width, dtype=jnp.int32).reshape(self.rows, self.width) * (c + 3) + self.index(b)[0]) % (self.width + 1)
        self.tables.append(jnp.take_along_axis(self.table(a), places, 1, mode=("fill", "clip")[d % 2]))

    def do_put_along(self, a, b, c, d):
        places = (jnp.arange(self.rows * self.width, dtype=jnp.int32).reshape(self.rows, self.width) * (c + 3)) % self.width
        self.tables.append(jnp.put_along_axis(self.table(a), places, self.table(b), 1, inplace=False))

    def do_slice(self, a, b, c, d):
        height = 1 + c % self.rows
        self.others.append(lax.dynamic_slice(self.table(a), (self.number, self.index(b)[0]), (height, 1 + d % self.width)))

    def do_update_slice(self, a, b, c, d):
        height = 1 + c % min(self.rows, self.edges)
        self.tables.append(lax.dynamic_update_slice(self.table(a), self.message(b)[:height, :1 + d % self.width], (self.number, 0)))

    def do_loop(self, a, b, c, d):
        table, index, message = self.table(a), self.index(b), self.message(c)

        def body(n, carried):
            new = self.update(carried, index + n, message, d, a)
            if b % 3 == 0:
                new = lax.dynamic_update_slice(new, message[:1], (n, 0))
            row = carried[index[0]] * 3 if a % 2 else carried[index[0]]
            return new + row if c % 4 == 0 else new
        self.tables.append(lax.fori_loop(0, 1 + d % 4, body, table))

    def do_scan(self, a, b, c, d):
        def body(carried, each):
            place, row = each
            new = carried.at[place].add(row) if d % 2 else carried.at[place].set(row)
            return new, carried[(place * 2) % self.rows]
        table, rows = lax.scan(body, self.table(a), (self.index(b), self.message(c)))
        self.tables.append(table)
        self.messages.append(rows)

    def do_branch(self, a, b, c, d):
        table, index, message = self.table(a), self.index(b), self.message(c)
        self.tables.append(lax.cond(self.number % 2 == d % 2, lambda: self.update(table, index, message, d, a), lambda: self.update(table, index + 1, message, d + 1, a)))

    def do_batch(self, a, b, c, d):
        tables, index, message = jnp.stack([self.table(a), self.table(b)]), self.index(b), self.message(c)
        done = (jax.vmap(lambda t: self.update(t, index, message, d, a)) if d % 2 else jax.vmap(lambda t, i: self.update(t, i, message, d, a), in_axes=(0, 0)))
        self.tables += list(done(tables) if d % 2 else done(tables, jnp.stack([index, index[::-1]])))

    def do_move(self, a, b, c, d):
        table = self.table(a)
        self.tables.append((lambda: table.T.reshape(self.rows, self.width), lambda: table[::-1], lambda: jnp.roll(table, 1 + d, 0), lambda: jnp.concatenate([table[1:], table[:1]]),
                            lambda: jnp.broadcast_to(table[:1], table.shape), lambda: jnp.pad(table, ((1, 0), (0, 0)))[:-1])[c % 6]())

    def do_call(self, a, b, c, d):
        @jax.jit
        def twice(table, index, message):
            return self.update(table, index, message, d, c)
        self.tables.append(twice(twice(self.table(a), self.index(b), self.message(c)), self.index(b + 1), self.message(c)))

    def do_order(self, a, b, c, d):
        order = jnp.argsort(self.index(b), stable=True)
        self.messages.append(self.message(a)[order])
        self.others.append(jnp.searchsorted(self.index(b)[order], jnp.arange(self.rows, dtype=jnp.int32)))

    def do_sum(self, a, b, c, d):
        self.others.append((lambda: self.table(a).max(0), lambda: self.message(b).max(1), lambda: jnp.bincount(jnp.abs(self.index(c)), length=self.rows))[d % 3]())

    def do_points(self, a, b, c, d):
        table, rows, columns = self.table(a), self.index(b), self.index(c)
        if d % 2:
            self.others.append(table[rows, columns])
        else:
            self.tables.append(table.at[rows, columns].add(self.weights))

    def do_product(self, a, b, c, d):
        self.tables.append((self.table(a).astype(jnp.float32) @ jnp.eye(self.width, k=d % 3)).astype(self.dtype))

    def do_gradient(self, a, b, c, d):
        if self.dtype in ("int32", "uint8"):
            return
        index, other, message = self.index(b), self.index(c), self.message(d)

        def loss(table, weights):
            rows = table[index] * weights[:, None]
            out = jnp.zeros_like(table).at[other].add(rows) if a % 2 else table.at[other].set(rows + message)
            return jnp.sum(out * jnp.linspace(-1, 1, out.size).astype(out.dtype).reshape(out.shape))
        of_table, of_weights = jax.grad(loss, (0, 1))(self.table(a), self.weights)
        self.tables.append(of_table)
        self.others.append(of_weights)
