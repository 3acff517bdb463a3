"""Draws tensors: of every dtype, in every layout, with the values that are hard for sums, and indices that are right, repeated or out of bounds."""
import math
import random

import torch

SUMS = (torch.float32, torch.float32, torch.float64, torch.bfloat16, torch.float16, torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool, torch.complex64,
        torch.complex128)
MOVES = SUMS + (torch.uint16, torch.uint32, torch.uint64, torch.complex32, torch.float8_e4m3fn, torch.float8_e5m2, torch.float8_e4m3fnuz, torch.float8_e5m2fnuz,
                torch.float8_e8m0fnu)
LAYOUTS = ("contiguous", "contiguous", "contiguous", "transposed", "stepped", "within", "expanded")
SPECIAL = (0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 1e-45, -1e-40, 3e38, 65504.0, 6e-8)


class Draw(random.Random):
    """One case's numbers. `wild`: infinities, NaN and values of every size are among them. `zeros`: zeros of both signs are."""

    def __init__(self, seed):
        super().__init__(seed)
        self.numbers = torch.Generator().manual_seed(self.getrandbits(40))
        self.wild = self.random() < 0.3
        self.zeros = self.random() < 0.15
        self.large = self.random() < 0.04  # enough for several threads

    def chance(self, probability):
        return self.random() < probability

    def extent(self):
        return self.choice((0, 1, 1, 2, 3, 5, 8, 17)) if self.chance(0.25) else self.choice((1, 2, 3, 4, 6, 9, 16))

    def size(self, least=0, most=4):
        rank = self.choice(range(least, most + 1)) if self.chance(0.5) else max(least, min(2, most))
        return [self.extent() for _ in range(rank)]

    def dim(self, rank):
        """Mostly a valid one, from the front or the back."""
        if self.chance(0.03):
            return self.choice((rank, rank + 1, -rank - 1))
        return self.randrange(-max(rank, 1), max(rank, 1))

    def values(self, size, dtype):
        if dtype == torch.bool:
            return torch.rand(size, generator=self.numbers) < 0.5
        if dtype.is_complex:
            part = {torch.complex32: torch.float16, torch.complex64: torch.float32, torch.complex128: torch.float64}[dtype]
            return torch.view_as_complex(self.values([*size, 2], part))
        if not dtype.is_floating_point:
            if self.wild:
                number = torch.randint(-(2**63), 2**63 - 1, size, generator=self.numbers)
                return number.to(dtype)
            return torch.randint(0, 100, size, generator=self.numbers).to(dtype)
        number = torch.randn(size, generator=self.numbers, dtype=torch.float64)
        number *= 2.0 ** torch.randint(-12, 12, size, generator=self.numbers)
        if self.zeros:
            number *= torch.rand(size, generator=self.numbers) < 0.3
        if self.wild and number.numel():
            special = torch.tensor(SPECIAL, dtype=torch.float64)[torch.randint(0, len(SPECIAL), size, generator=self.numbers)]
            number = torch.where(torch.rand(size, generator=self.numbers) < 0.2, special, number)
        return number.to(torch.float32).to(dtype) if dtype.itemsize == 1 else number.to(dtype)

    def laid_out(self, values, layouts=LAYOUTS):
        """The values in some layout; `expanded` gives others, of which many share memory."""
        layout, size = self.choice(layouts), list(values.size())
        if layout == "transposed" and len(size) > 1:
            order = self.sample(range(len(size)), len(size))
            return values.permute(order).contiguous().permute([order.index(d) for d in range(len(size))])
        if layout == "stepped" and size:
            steps = [self.choice((1, 1, 2, 3)) for _ in size]
            base = self.values([extent * step for extent, step in zip(size, steps, strict=True)], values.dtype)
            view = base[tuple(slice(None, None, step) for step in steps)]
            view.copy_(values)
            return view
        if layout == "within" and size:
            base = self.values([extent + 2 for extent in size], values.dtype)
            view = base[tuple(slice(1, 1 + extent) for extent in size)]
            view.copy_(values)
            return view
        if layout == "expanded" and size:
            kept = [0 if self.chance(0.5) else None for _ in size]
            return values[tuple(slice(0, 1) if each == 0 else slice(None) for each in kept)].expand(size) if values.numel() else values
        return values.contiguous()

    def tensor(self, size, dtype, layouts=LAYOUTS):
        return self.laid_out(self.values(size, dtype), layouts)

    def target(self, size, dtype):
        """A tensor that is written: rarely one of which elements share memory."""
        return self.tensor(size, dtype, LAYOUTS if self.chance(0.05) else tuple(each for each in LAYOUTS if each != "expanded"))

    def index(self, size, extent, negative=False):
        """Indices below `extent`; `negative`: also those that count from the end. Some lie outside."""
        least = -extent if negative and self.chance(0.4) else 0
        number = torch.randint(least, max(extent, 1), size, generator=self.numbers)
        if number.numel() and self.chance(0.3):
            number = number % max(1, min(3, extent))  # many of the same
        if number.numel() and self.chance(0.07):
            flat = number.view(-1)
            for _ in range(self.choice((1, 1, 2))):
                flat[self.randrange(len(flat))] = self.choice((extent, extent + 3, -1 if not negative else -extent - 1, -extent - 5, 2**40, -(2**40)))
        kind = torch.int64 if self.chance(0.75) or (number.numel() and int(number.abs().max()) > 2**31 - 1) else torch.int32
        if self.chance(0.02):
            kind = self.choice((torch.int16, torch.uint8, torch.float32, torch.bool))
        return self.laid_out(number.to(kind))

    def alpha(self, dtype):
        if self.chance(0.75):
            return 1
        return self.choice((1.0, 2, -1, 0, True, 0.3, 2.5 if dtype.is_floating_point else 3, 1j if dtype.is_complex else 7))
