"""Drawn programs over tables of rows for compile_test.py: they gather rows, compute with them, add them up into new tables, and update in place, also by views, what they and others read."""
import torch

# What a statement does with the tables, the messages (rows of edges), and the results so far.
STATEMENTS = ("gather", "gather", "factor", "sum", "relu", "scatter", "scatter", "twice", "add_", "add_", "put_", "mul_", "rows_", "flat_", "view", "copy_", "fill_", "read", "square", "waves")


class Program:
    """A function of `arguments`: tables [rows, width], and weights of edges. Those for which `is_buffer` are updated as they are given, the others as copies."""

    def __init__(self, rng, dtype):
        self.rows, self.edges, self.width = rng.randint(2, 20), rng.choice((1, 3, 40, 200)), rng.choice((1, 3, 8, 33))
        self.indices = [torch.randint(self.rows, (self.edges,)) for _ in range(3)]
        self.is_buffer = [rng.random() < 0.4 for _ in range(3)] + [False]
        self.arguments = [torch.randn(self.rows, self.width).to(dtype) for _ in range(3)] + [torch.rand(self.edges, 1).to(dtype)]
        self.requires_grad = [not is_buffer and rng.random() < 0.7 for is_buffer in self.is_buffer]
        words = ["gather", *(rng.choice(STATEMENTS) for _ in range(rng.randint(2, 9))), "scatter"]
        self.statements = [(word, rng.randrange(60), rng.randrange(60), rng.choice((0.5, 1.0, -1.25, 3.0))) for word in words]

    def __repr__(self):
        return (f"{self.arguments[0].dtype} [{self.rows}, {self.width}], {self.edges} edges, buffers {self.is_buffer}, requires_grad {self.requires_grad}, "
                f"{[(word, one, other) for word, one, other, _ in self.statements]}")

    def __call__(self, *arguments):
        *tables, weight = (each if is_buffer else each * 1 for each, is_buffer in zip(arguments, self.is_buffer, strict=True))
        messages, results = [], []
        for word, one, other, number in self.statements:
            table, index = tables[one % len(tables)], self.indices[other % 3]
            message = messages[other % len(messages)] if messages else None
            if word == "gather":
                messages.append(table[index] if one % 2 else table.index_select(0, index))
            elif word == "factor":
                messages.append(message * (weight if one % 2 else number))
            elif word == "sum":
                messages.append(message + messages[one % len(messages)])
            elif word == "square":
                messages.append(message * message)
            elif word == "waves":  # the gradient needs the table as it was
                results.append(table.sin())
            elif word == "relu":
                messages.append(message.relu())
            elif word == "scatter":
                tables.append(torch.zeros_like(table).index_add(0, self.indices[one % 3], message))
            elif word == "twice":  # two sums of the same rows
                tables += [torch.zeros_like(table).index_add(0, each, message * number) for each in self.indices[:2]]
            elif word == "add_":
                table.index_add_(0, self.indices[one % 3], message)
            elif word == "put_":
                table[self.indices[one % 3]] = message
            elif word == "mul_":
                table.mul_(number)
            elif word == "rows_":
                table[1:].add_(number)
            elif word == "flat_":
                table.view(-1)[::2] += number
            elif word == "view":
                tables.append(table.view(-1).view(self.rows, self.width) if other % 2 else table[:])
            elif word == "copy_":
                table.copy_(tables[other % len(tables)])
            elif word == "fill_":
                table.index_fill_(0, index[:1], number)
            else:
                results.append(table * number)
        return (*results, *tables)

    def run(self, function):
        """The results, the buffers afterwards, and the gradients."""
        given = [each.clone().requires_grad_(requires) for each, requires in zip(self.arguments, self.requires_grad, strict=True)]
        results = function(*given)
        found = [each.detach().clone() for each in (*results, *(each for each, is_buffer in zip(given, self.is_buffer, strict=True) if is_buffer))]
        parts = [each for each in results if each.requires_grad]
        leaves = [each for each, requires in zip(given, self.requires_grad, strict=True) if requires]
        if parts and leaves:
            total = sum((each * torch.linspace(-1, 1, each.numel(), dtype=torch.float64).to(each.dtype).view(each.shape)).sum() for each in parts)
            found += torch.autograd.grad(total, leaves, allow_unused=True)
        return found
