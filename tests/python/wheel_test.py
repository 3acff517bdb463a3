#!/usr/bin/env python3
"""The wheels of the Python package and its extras, made as `./dev wheel` makes them, installed into a fresh virtual environment: they need nothing of
strew's or LLVM's outside of themselves, they answer, and their sizes are what users can be asked to download. And the package in environments that lack
something: each answers, the slower way where it must, or says clearly what is missing.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
MOST_BYTES = 80_000_000  # of the package; those of the extras carry more of LLVM
OLDER_NUMPY = "numpy==1.26.4"
NOBODY = 65534
ANSWERS = """
import sys
import numpy as np
import strew

table = np.zeros((3, 2), np.float32)
strew.add_at(table, [0, 2, 0], np.ones((3, 2), np.float32))
assert table.tolist() == [[2, 2], [0, 0], [1, 1]]
assert strew.take(table, np.array([0]), 0).tolist() == [[2, 2]]
op = ("strew1.gather(operand=f32[?,2] indices=i64[?] result=f32[?,2] offset_dims=[1] collapsed_slice_dims=[0] start_index_map=[0] "
      "index_vector_dim=1 slice_sizes=[1,2] oob=error)")
"""
LLVM = """
kernel = strew.kernel(op, backend="llvm", compile="blocking")
assert kernel(table, np.array([2])).tolist() == [[1, 1]]
assert kernel.backend == "llvm"
"""
OWN_FILES = """
for line in open("/proc/self/maps"):
    path = line.split()[-1]
    if any(part in path for part in ("libLLVM", "libMLIR", "libHalide", "libstrew", "_native", "protobuf", "libfmt")):
        assert path.startswith(sys.prefix), path
"""
WITHOUT_EXTRAS = """
for act, module in ((lambda: strew.kernel(op, backend="halide", compile="blocking"), "libstrew_halide.so, which is not there"), (lambda: strew.open("ids.mlir"), "libstrew_import_mlir.so")):
    try:
        act()
    except NotImplementedError as error:
        assert module in str(error), error
    else:
        raise AssertionError(module)
"""
WITH_EXTRAS = """
kernel = strew.kernel(op, backend="halide", compile="blocking")
assert kernel(table, np.array([2])).tolist() == [[1, 1]]
assert kernel.backend == "halide"
program = strew.open("ids.mlir")
assert len(program.kernels) == 1, program.kernels
(result,) = program.run({port.name: value for port, value in zip(program.inputs, (table, np.array([[2], [0]])))}, compile="blocking").values()
assert result.tolist() == [[1, 1], [2, 2]], result
"""
STABLEHLO = """
func.func @rows(%table: tensor<3x2xf32>, %ids: tensor<2x1xi64>) -> tensor<2x2xf32> {
  %0 = "stablehlo.gather"(%table, %ids) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0],
    start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 2>, indices_are_sorted = false}>
    : (tensor<3x2xf32>, tensor<2x1xi64>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}
"""
CANNOT_WRITE = """
import os, sysconfig
assert not os.access(sysconfig.get_path("purelib"), os.W_OK) and not os.access(os.environ["HOME"], os.W_OK)
"""
WITHOUT_COMPILER = """
try:
    strew.kernel(op, backend="llvm", compile="blocking")
except NotImplementedError as error:
    assert "libstrew_llvm.so" in str(error), error
else:
    raise AssertionError("a kernel of llvm without its module")
kernel = strew.kernel(op, compile="blocking")
assert kernel.backend == "portable", kernel.backend
assert kernel(table, np.array([2])).tolist() == [[1, 1]]
"""
TORCH = """
import sys
import torch
import strew.torch
strew.torch.enable()
assert torch.zeros(3).index_add_(0, torch.tensor([2, 0, 2]), torch.ones(3)).tolist() == [1, 0, 2]
assert strew.torch.report()["aten::index_add_"]["replaced"] == 1
assert strew.torch.spmm(torch.tensor([1, 1]), torch.tensor([0, 1]), torch.ones(2, 2), num_rows=2).tolist() == [[0, 0], [2, 2]]
"""
# A file that PyTorch's exporter wrote, in ONNX Runtime with strew and without; and the package that says where the provider is.
ONNXRUNTIME = """
import onnxruntime as ort
import onnxruntime_ep_strew as ep
import strew.ort
options = ort.SessionOptions()
options.log_severity_level = 3  # it warns where it keeps nodes for itself
session = ort.InferenceSession(MODEL + "/model.onnx", strew.ort.session_options(options))
assert {node.operator for node in strew.ort.report(session).nodes if node.runs == "strew"} >= {"Gather", "ScatterElements"}, strew.ort.report(session)
arrays = np.load(MODEL + "/tensors.npz")
feeds = {f"arg{number}": arrays[f"input_{number}"] for number in range(2)}
for got, expected in zip(session.run(None, feeds), ort.InferenceSession(MODEL + "/model.onnx").run(None, feeds), strict=True):
    assert got.tobytes() == expected.tobytes()
assert ep.get_library_path() == strew.ort.library_path() and ep.get_ep_names() == [ep.get_ep_name()] == [strew.ort.PROVIDER]
assert [device.ep_name for device in ort.get_ep_devices()].count(ep.get_ep_name()) == 1
"""
# As a host that never imports strew loads it.
PROVIDER_ALONE = """
import ctypes, sys
library = ctypes.CDLL(LIBRARY)
assert library.strew_ep_report(b"no session", None, ctypes.c_size_t(0)) == -1
assert "strew" not in sys.modules
"""
WITHOUT_ONNXRUNTIME = """
sys.modules["onnxruntime"] = None
import onnxruntime_ep_strew
import strew.ort
assert onnxruntime_ep_strew.get_library_path().startswith(sys.prefix)
try:
    strew.ort.session_options()
except ModuleNotFoundError as error:
    assert error.name == "onnxruntime", error
else:
    raise AssertionError("ONNX Runtime is there")
"""
TWICE = """
first, names = strew, [name for name in sys.modules if name == "strew" or name.startswith("strew.")]
for name in names:
    del sys.modules[name]
sys.path.insert(0, OTHER)
import strew
assert strew.__file__ != first.__file__
second = strew
for each in (first, second):
    table = np.zeros((3, 2), np.float32)
    each.add_at(table, [0, 2, 0], np.ones((3, 2), np.float32))
    assert table.tolist() == [[2, 2], [0, 0], [1, 1]]
    assert each.kernel(op, backend="llvm", compile="blocking")(table, np.array([2])).tolist() == [[1, 1]]
    try:
        each.add_at(table, [7], 1)
    except each.OutOfBoundsError as error:
        assert error.value == 7
"""


def run(*command, **options):
    result = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    if result.returncode:
        print(" ".join(map(str, command)), result.stdout, result.stderr, sep="\n")
        sys.exit(1)
    return result.stdout


class Fresh:
    """A virtual environment with the wheels."""

    def __init__(self, folder, wheels):
        self.folder = pathlib.Path(folder)
        self.venv = self.folder / "venv"
        self.python = self.venv / "bin/python3"
        self.failed = 0
        run(sys.executable, "-m", "venv", self.venv)
        self.install(*wheels)
        self.packages = pathlib.Path(run(self.python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
        # NumPy from where this test has it.
        (self.packages / "numpy.pth").write_text(sysconfig.get_path("purelib") + "\n")
        self.folder.chmod(0o755)
        (self.folder / "ids.mlir").write_text(STABLEHLO)

    def install(self, *wheels):
        run(self.python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-index", "--no-deps", *wheels)

    def check(self, name, program, *arguments, ordinary=False, **environment):
        """Runs the program, which must say nothing but that it came to its end. `ordinary`: without root's right to write everywhere."""
        base = {"HOME": str(self.folder), "STREW_CACHE": "off", "STREW_WISDOM": "off"}
        before = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", "--"] if ordinary and os.geteuid() == 0 else []
        result = subprocess.run([*before, self.python, *arguments, "-c", program + "\nprint('fine')"], capture_output=True, text=True, check=False,
                                cwd=self.folder, env={**{"PATH": os.environ["PATH"]}, **base, **environment})
        good = (result.returncode, result.stdout, result.stderr) == (0, "fine\n", "")
        self.failed += not good
        print(f"{name}: {'fine' if good else 'FAILED'}")
        if not good:
            print(result.returncode, result.stdout, result.stderr)


def check_environments(fresh):
    nowhere = {"HOME": "/nonexistent"}
    fresh.check("without a home", ANSWERS + LLVM, **{**nowhere, "STREW_CACHE": ""})
    fresh.check("python -S", ANSWERS + LLVM, "-S", PYTHONPATH=f"{fresh.packages}:{sysconfig.get_path('purelib')}")
    fresh.check("python -OO", ANSWERS + LLVM, "-OO")
    fixed = [fresh.packages / "strew", fresh.packages, fresh.folder]
    for each in fixed:
        each.chmod(0o555)
    fresh.check("packages and home that cannot be written", CANNOT_WRITE + ANSWERS + LLVM, ordinary=True, STREW_CACHE="")
    for each in fixed:
        each.chmod(0o755)
    if os.geteuid() == 0:
        cache = fresh.folder / "cache"
        cache.mkdir(0o700)
        os.chown(cache, NOBODY, NOBODY)
        fresh.check("the cache folder of another user", ANSWERS + LLVM, ordinary=True, STREW_CACHE=str(cache))
        fresh.check("the cache folder of another user, as root", ANSWERS + LLVM, STREW_CACHE=str(cache))
    # Both are of the same version, of which nanobind warns: types and libraries are told apart by the version.
    fresh.check("two copies in one process", ANSWERS + TWICE.replace("OTHER", repr(str(fresh.folder / "other"))), "-W", "ignore:nanobind")
    older = fresh.folder / "older"
    command = [fresh.python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--target", older, OLDER_NUMPY]
    if subprocess.run(command, capture_output=True, check=False).returncode == 0:
        fresh.check("the NumPy major before", ANSWERS + LLVM + f"assert np.__version__ == {OLDER_NUMPY.split('==')[1]!r}", PYTHONPATH=str(older))
    else:
        print(f"the NumPy major before: not run, {OLDER_NUMPY} cannot be installed here")
        fresh.failed += os.environ.get("CI") == "true"
    (module,) = fresh.packages.glob("strew/lib/strew-*/libstrew_llvm.so")
    module.rename(module.with_suffix(".away"))
    fresh.check("no compiler module", ANSWERS + WITHOUT_COMPILER)
    module.with_suffix(".away").rename(module)


def check_provider(fresh, wheel):
    fresh.install(wheel)
    model = ROOT / "tests/models/torch/gnn_dynamic"
    (library,) = fresh.packages.glob("strew/onnxruntime_provider/libstrew_ep.so")
    fresh.check("in ONNX Runtime", ANSWERS + ONNXRUNTIME.replace("MODEL", repr(str(model))) + OWN_FILES)
    fresh.check("the provider alone", PROVIDER_ALONE.replace("LIBRARY", repr(str(library))) + OWN_FILES)
    fresh.check("the provider without ONNX Runtime", ANSWERS + WITHOUT_ONNXRUNTIME)
    needed = run(fresh.python, "-c", "import importlib.metadata; print(importlib.metadata.requires('onnxruntime-ep-strew'), importlib.metadata.version('strew'))").strip()
    version = needed.split()[-1]
    if needed != f"['strew=={version}'] {version}":
        fresh.failed += 1
        print(f"the provider's package needs {needed}, expected strew of its version alone")


def main():
    try:
        import auditwheel  # noqa: F401 -- whether it is installed
        import halide  # noqa: F401
        import onnxruntime  # noqa: F401
        import scikit_build_core  # noqa: F401
    except ImportError as error:
        print(f"skipped: {error}")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        run(ROOT / "dev", "wheel", folder, cwd=ROOT)
        (wheel,) = pathlib.Path(folder).glob("strew-*manylinux*.whl")
        extras = sorted(pathlib.Path(folder).glob("strew_*.whl"))
        (provider,) = pathlib.Path(folder).glob("onnxruntime_ep_strew-*-py3-none-any.whl")
        for each in (wheel, *extras, provider):
            print(f"{each.name}: {each.stat().st_size} bytes")
        if wheel.stat().st_size > MOST_BYTES or len(extras) != 2:
            print(f"expected a package of at most {MOST_BYTES} bytes, and two extras")
            return 1
        fresh = Fresh(folder, [wheel])
        shutil.copytree(fresh.packages / "strew", fresh.folder / "other/strew", symlinks=True)
        shutil.copytree(fresh.packages / "strew.libs", fresh.folder / "other/strew.libs", symlinks=True)
        fresh.check("the package", ANSWERS + LLVM + OWN_FILES)
        fresh.check("without the extras", ANSWERS + WITHOUT_EXTRAS)
        (torch,) = ROOT.glob(".venv-torch/lib/python3*/site-packages")  # ./dev wheel has made it
        fresh.check("beside PyTorch", TORCH + OWN_FILES, PYTHONPATH=str(torch))
        check_provider(fresh, provider)
        check_environments(fresh)
        fresh.install(*extras)
        # Halide's package from where this test has it, as a copy: all of strew's files are to be in the environment.
        shutil.copytree(pathlib.Path(sysconfig.get_path("platlib")) / "halide", fresh.packages / "halide", symlinks=True)
        fresh.check("with the extras", ANSWERS + LLVM + WITH_EXTRAS + OWN_FILES)
        return 1 if fresh.failed else 0


if __name__ == "__main__":
    sys.exit(main())
