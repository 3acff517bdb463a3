"""What the tests of strew's own operators share: each looks for one kind of failure, and appends what it finds to a list."""
import argparse
import random
import warnings

import torch


def errors(failures, cases):
    """`cases`: (a call, the class of its exception, a part of the text). `unchanged` may follow: a tensor that has to be as before."""
    for number, (call, kind, text, *unchanged) in enumerate(cases):
        before = [each.clone() for each in unchanged]
        try:
            call()
            failures.append(f"error {number}: none, expected {text!r}")
        except Exception as error:  # noqa: BLE001  whatever it is, it is compared
            if type(error) is not kind or text not in str(error):
                failures.append(f"error {number}: {type(error).__name__}: {error}; expected {kind.__name__} with {text!r}")
        if not all(torch.equal(*pair) for pair in zip(before, unchanged, strict=True)):
            failures.append(f"error {number}: something was written")


def derivatives(failures, functions):
    """First and second ones against differences. `functions`: by name, a function and its float64 arguments."""
    for name, (function, inputs) in functions.items():
        if not torch.autograd.gradcheck(function, inputs) or not torch.autograd.gradgradcheck(function, inputs):
            failures.append(f"derivatives of {name}")


def forward_derivatives(failures, functions):
    """Forward mode and torch.func against reverse mode. `functions`: by name, a function and its arguments."""
    for name, (function, inputs) in functions.items():
        given = tuple(each.detach() for each in inputs)
        tangents = tuple(torch.randn_like(each) for each in given)
        value, along = torch.func.jvp(function, given, tangents)
        rows, pullback = torch.func.vjp(function, *given)
        gradient = torch.randn_like(value)
        by_rows = sum((each * tangent).sum() for each, tangent in zip(pullback(gradient), tangents, strict=True))
        if not torch.equal(value, function(*given)) or not torch.equal(rows, value):
            failures.append(f"{name}: other values under torch.func")
        if not torch.allclose((along * gradient).sum(), by_rows):
            failures.append(f"{name}: jvp and vjp disagree")
        if not torch.allclose(torch.func.jacfwd(function)(*given), torch.func.jacrev(function)(*given)):
            failures.append(f"{name}: jacfwd and jacrev disagree")


def compiled_backward(failures, functions):
    """PyTorch's compiled autograd against autograd. `functions`: by name, a function and its arguments."""
    from torch._dynamo import compiled_autograd

    def gradients(function, inputs):
        leaves = [each.detach().clone().requires_grad_() for each in inputs]
        function(*leaves).sin().sum().backward()
        return [each.grad for each in leaves]
    for name, (function, inputs) in functions.items():
        expected = gradients(function, inputs)
        torch._dynamo.reset()
        with compiled_autograd._enable(torch.compile(backend="aot_eager", fullgraph=True)):
            result = gradients(function, inputs)
        if not all(torch.allclose(*pair) for pair in zip(result, expected, strict=True)):
            failures.append(f"compiled autograd of {name}")


def registrations(failures, calls):
    """PyTorch's opcheck: schema, fake tensors, autograd, aot_dispatch. `calls`: (an operator, its arguments)."""
    for op, arguments in calls:
        for test, outcome in torch.library.opcheck(op, arguments).items():
            if outcome != "SUCCESS":
                failures.append(f"opcheck of {op}: {test}: {outcome}")


def written_after_forward(failures, name, forward, tensor):
    """PyTorch has to notice that `tensor`, which autograd keeps of `forward()`, was written before the backward pass."""
    result = forward().sum()
    with torch.no_grad():
        tensor.add_(1)
    try:
        result.backward()
        failures.append(f"{name}: a tensor that was written after the forward pass: no error")
    except RuntimeError as error:
        if "modified by an inplace operation" not in str(error):
            failures.append(f"{name}: a tensor that was written: {error}")


def main(name, check_drawn, iterations, checks):
    """The exit status of such a test. `check_drawn` gets a source of numbers, which --seed replays, and `iterations`, how often it draws, unless that is None; each check gets the list of failures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=random.randrange(2**31))
    if iterations is not None:
        parser.add_argument("--iterations", type=int, default=iterations)
    options = parser.parse_args()
    print(f"{name}: {' '.join(f'--{option} {value}' for option, value in vars(options).items())}")
    warnings.filterwarnings("ignore")
    warnings.filterwarnings("error", message=".*performance drop.*")  # PyTorch's loop over a batch, for operators without a rule
    torch.manual_seed(options.seed)
    failures = []
    drawn = () if iterations is None else (options.iterations,)
    check_drawn(random.Random(options.seed), *drawn, failures)
    for check in checks:
        check(failures)
    for failure in failures[:20]:
        print(failure)
    print(f"{name}: {len(failures)} failures")
    return 1 if failures else 0
