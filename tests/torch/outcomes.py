"""What a call of PyTorch does: its results, what it leaves in the memory of its arguments, its error. `differences` says how the outcome with strew.torch differs from the one without.

Results have to be the same bits, but for the payloads of NaN, with the same dtype, sizes and strides; errors have to be of the same class, and begin with PyTorch's text. After an error the
memory is as before, or as PyTorch left it. Of several indices that are out of bounds PyTorch names the first that it meets, which depends on strides and threads: another may be named.
"""
import contextlib
import dataclasses
import os
import random
import re
import warnings

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # threads that wait leave the cores to others: tests run side by side
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import torch  # noqa: E402

import strew.torch  # noqa: E402

warnings.filterwarnings("ignore")  # of sizes of out=, of complex numbers of 32 bits

INTEGERS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


@contextlib.contextmanager
def enabled(on, threads=1):
    """Calls within are strew's, or PyTorch's, with so many threads."""
    were = strew.torch.is_enabled()
    if torch.get_num_threads() != threads:
        torch.set_num_threads(threads)
    (strew.torch.enable if on else strew.torch.disable)()
    try:
        yield
    finally:
        (strew.torch.enable if were else strew.torch.disable)()


def tensors_in(value):
    """The tensors in nested tuples, lists and dicts."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [each for one in value for each in tensors_in(one)] if isinstance(value, (list, tuple)) else []


def replica(value, storages):
    """A copy with memory of its own that is shared among its tensors as it is among those of `value`. `storages`: from the addresses of those to the copies."""
    if isinstance(value, torch.Tensor):
        if type(value) is not torch.Tensor or value.layout is not torch.strided:
            return value.clone()
        old = value.untyped_storage()
        if old.data_ptr() not in storages or not old.nbytes():
            storages[old.data_ptr()] = old.clone()
        with torch.no_grad():
            new = torch.empty(0, dtype=value.dtype).set_(storages[old.data_ptr()], value.storage_offset(), value.size(), value.stride())
            new = torch._neg_view(new) if value.is_neg() else new
            new = new.conj() if value.is_conj() else new
        return new.requires_grad_(value.requires_grad)
    if isinstance(value, dict):
        return {key: replica(each, storages) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(replica(each, storages) for each in value)
    return value


@dataclasses.dataclass
class Outcome:
    """`results`: what the call returned. `arguments`: its tensors afterwards. `memory`: that of the arguments. `error`: the exception."""
    results: list = dataclasses.field(default_factory=list)
    arguments: list = dataclasses.field(default_factory=list)
    memory: list = dataclasses.field(default_factory=list)
    error: Exception = None


def outcome(function, *given):
    """Of `function`, called with a replica of `given`."""
    storages = {}
    copy = replica(given, storages)
    try:
        found = Outcome(results=tensors_in([function(*copy)]))
    except Exception as error:  # noqa: BLE001  whatever PyTorch raises is compared
        found = Outcome(error=error)
    found.arguments = tensors_in(copy)
    found.memory = [torch.empty(0, dtype=torch.uint8).set_(each) for each in storages.values()]
    return found


def real(tensor):
    tensor = tensor.detach().resolve_conj().resolve_neg()
    return torch.view_as_real(tensor) if tensor.is_complex() else tensor


def bits(tensor):
    """The bits of the elements as integers, those of each NaN replaced by all ones."""
    plain = real(tensor).contiguous()
    integers = plain.view(INTEGERS[plain.element_size()]).clone()
    if plain.is_floating_point():
        integers[plain.to(torch.float64).isnan()] = 255 if integers.dtype == torch.uint8 else -1
    return integers


def different(name, one, other):
    """How a tensor differs from what it should be."""
    if (one.dtype, one.size()) != (other.dtype, other.size()):
        return [f"{name}: {one.dtype} {list(one.size())} instead of {other.dtype} {list(other.size())}"]
    if one.layout != torch.strided or other.layout != torch.strided:
        return different(name, one.to_dense(), other.to_dense())
    if one.numel() > 1 and one.stride() != other.stride():
        return [f"{name}: strides {one.stride()} instead of {other.stride()}"]
    apart = (bits(one) != bits(other)).nonzero()
    if not len(apart):
        return []
    place = tuple(apart[0].tolist())
    values = [real(each)[place].item() for each in (one, other)]
    return [f"{name}: {len(apart)} elements of {one.numel()} differ, the first at {list(place)}: {values[0]!r} instead of {values[1]!r}"]


def changed_outside(got, want):
    """Whether memory beside the arguments' elements differs. Their own may hold other NaN, so they are left out."""
    def rest(found):
        copies = {each.data_ptr(): each.clone() for each in found.memory if each.numel()}
        for tensor in found.arguments:
            memory = copies.get(tensor.untyped_storage().data_ptr())
            if memory is not None and tensor.numel() and tensor.layout == torch.strided:
                once = [1 if stride == 0 else extent for extent, stride in zip(tensor.size(), tensor.stride(), strict=True)]
                torch.empty(0, dtype=tensor.dtype).set_(memory.untyped_storage(), tensor.storage_offset(), once, tensor.stride()).zero_()
        return list(copies.values())
    ours, theirs = rest(got), rest(want)
    return len(ours) != len(theirs) or any(not torch.equal(*pair) for pair in zip(ours, theirs, strict=True))


def names_another(got, want, given):
    """Whether the errors are the same but for the index, and this is one of the arguments' and out of bounds, too. It is for the same dim unless several tensors are indices."""
    bounds = r"index (-?\d+) (?:is out of bounds for dimension (-?\d+) with size|on a tensor of) (\d+)"
    ours, theirs = re.search(bounds, got), re.search(bounds, want)
    if not ours or not theirs or got[:ours.start()] != want[:theirs.start()]:
        return False
    value, size = int(ours[1]), int(ours[3])
    indices = [each for each in tensors_in(given) if each.dtype in (torch.int64, torch.int32)]
    if len(indices) == 1 and ours.groups()[1:] != theirs.groups()[1:]:
        return False
    return any(bool((each == value).any()) for each in indices) and (value < 0 or value >= size)


def shares(one, other):
    return one.layout == other.layout == torch.strided and one.untyped_storage().data_ptr() == other.untyped_storage().data_ptr()


def differences(got, want, given, has_out=False):
    """How the outcome `got` differs from what it should be, `want`. `given`: the arguments before the calls. `has_out`: the last tensor is written, and after an error it may hold
    anything, because PyTorch gives it its size and copies `self` into it first."""
    if "INTERNAL ASSERT FAILED" in str(want.error):  # a mistake of PyTorch's own: index_reduce prod of 16 bits with an expanded source
        return []
    if (got.error is None) != (want.error is None):
        return [f"{got.error!r} instead of {want.error!r}"]
    if want.error is not None:
        if type(got.error) is not type(want.error) or not (str(got.error).startswith(str(want.error)) or names_another(str(got.error), str(want.error), given)):
            return [f"{got.error!r} instead of {want.error!r}"]
        if not any(different("", *pair) for pair in zip(got.arguments, tensors_in(given), strict=True)):
            return []
    found = [f"{len(got.results)} results instead of {len(want.results)}"] if len(got.results) != len(want.results) else []
    for name in ("results", "arguments"):
        for number, pair in enumerate(zip(getattr(got, name), getattr(want, name), strict=False)):
            unknown = has_out and want.error is not None and shares(pair[1], want.arguments[-1])
            found += [] if unknown else different(f"{name}[{number}]", *pair)
    if not found and not (has_out and want.error is not None) and changed_outside(got, want):
        found.append("memory beside the elements was written")
    return found


def compare(function, *given, threads=(1,), threads_of_torch=1, has_out=False):
    """The differences with strew.torch on so many threads from PyTorch alone. `has_out`: see `differences`."""
    with enabled(False, threads_of_torch):
        want = outcome(function, *given)
    found = []
    for count in threads:
        before, left = calls_by_strew(), calls_by_torch()
        with enabled(True, count):
            got = outcome(function, *given)
        # PyTorch's own results depend on the number of threads.
        if count == threads_of_torch or (calls_by_strew() > before and calls_by_torch() == left):
            found += [f"{each} (threads: {count})" for each in differences(got, want, given, has_out)]
    return found


def gradients(call, wrt):
    """Of the results of `call()` with respect to the tensors `wrt` that require them, from the outside by a gradient that depends on the place alone."""
    results = [each for each in tensors_in([call()]) if each.requires_grad]
    outer = [torch.linspace(-2, 3, each.numel(), dtype=torch.float64).view(each.size()).to(each.dtype) for each in results]
    inner = [each for each in wrt if each.requires_grad]
    return results, [each for each in torch.autograd.grad(results, inner, outer, allow_unused=True) if each is not None]


def calls_by_strew():
    return sum(counts["replaced"] for counts in strew.torch.report().values())


def calls_by_torch():
    """How many calls were handed over while strew.torch was enabled."""
    return sum(calls_of(overload)[1] for overload in strew.torch.report())


def calls_of(overload):
    """How many calls of this overload strew ran, and how many it handed over while it was enabled."""
    counts = strew.torch.report().get(overload, {"replaced": 0, "handed over": {}})
    return counts["replaced"], sum(count for reason, count in counts["handed over"].items() if reason != "strew.torch is disabled")


class Failures:
    """Collects what went wrong, prints it, and is the test's exit status."""

    def __init__(self):
        self.count = 0
        self.checks = 0

    def check(self, what, found):
        """`found`: the differences, none if all is well."""
        self.checks += 1
        for each in found:
            self.count += 1
            if self.count <= 40:
                print(f"{what}: {each}", flush=True)

    def require(self, what, condition):
        self.check(what, [] if condition else ["does not hold"])

    def end(self):
        print(f"{self.checks} checks, {self.count} failures")
        return 1 if self.count else 0


def fresh_seed():
    return random.SystemRandom().randrange(2**31)
