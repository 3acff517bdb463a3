"""Writes tests/models/torch (torch.onnx.export with dynamo=False) and tests/models/torch_dynamo (dynamo=True).

    python3 tests/models/exporters/torch_export.py [PATTERN...]
"""

import copy
import io
import logging
import warnings

import numpy as np
import onnx
import torch

import corpus
import onnx_values
import torch_cases
import torch_models
from corpus import MOVES

warnings.simplefilter("ignore")
logging.disable(logging.WARNING)


class Function(torch.nn.Module):
    def __init__(self, f):
        super().__init__()
        self.f = f

    def forward(self, *arguments):
        return self.f(*arguments)


def export(by, module, arguments, names, options):
    if by == "torch":
        file = io.BytesIO()
        if options.get("script"):
            module = torch.jit.script(module)
        axes = {names[k]: dims for k, dims in options.get("dynamic", {}).items()}
        torch.onnx.export(module, tuple(arguments), file, dynamo=False, opset_version=options.get("opset", 17), input_names=names,
                          dynamic_axes=axes or None)
        return onnx.load_from_string(file.getvalue())
    shapes = None
    if "dynamic" in options:
        shapes = tuple({d: torch.export.Dim.DYNAMIC for d in options["dynamic"].get(k, {})} for k in range(len(arguments)))
        if isinstance(module, Function):
            shapes = (shapes,)
    program = torch.onnx.export(module, tuple(arguments), dynamo=True, verbose=False, input_names=names, dynamic_shapes=shapes,
                                opset_version=options.get("dynamo_opset"), optimize=options.get("optimize", True))
    return program.model_proto


def main():
    out = corpus.Corpus("", "torch", "onnx")
    versions = f"torch {torch.__version__.split('+')[0]}"
    for name, make, note, tolerance, options in [*torch_cases.cases(), *torch_models.models()]:
        for by in options.get("by", torch_cases.BOTH):
            if not out.wants(name, by):
                continue
            try:
                module, arguments = make(corpus.rng(f"torch/{name}"))
                module = module if isinstance(module, torch.nn.Module) else Function(module)
                tensors = [torch.from_numpy(np.array(a)) for a in arguments]
                want = module(*copy.deepcopy(tensors))
                want = want if isinstance(want, (tuple, list)) else (want,)
                model = onnx_values.without_folders(export(by, module.eval(), copy.deepcopy(tensors), [f"arg{k}" for k in range(len(tensors))], options))
                kept = [i.name for i in model.graph.input]
                inputs = [(f"arg{k}", a) for k, a in enumerate(arguments) if f"arg{k}" in kept]
                assert [label for label, _ in inputs] == kept, f"inputs are {kept}"
                outputs = [(o.name, w.detach().numpy()) for o, w in zip(model.graph.output, want)]
                assert len(model.graph.output) == len(want)
                more = {}
                try:
                    results = onnx_values.run(model, dict(inputs))[0]
                    problem = onnx_values.compare(results, outputs, tolerance if tolerance == MOVES else tolerance[0])
                    if problem and by == "torch":
                        more["results"] = "of onnxruntime: the exporter's file means something else than torch computes"
                        outputs = [(label, np.asarray(result)) for (label, _), result in zip(outputs, results)]
                    elif problem:
                        raise AssertionError(f"onnxruntime: {problem}")
                    kernels, values = onnx_values.kernels(model, dict(inputs))
                except onnx_values.ERRORS as error:
                    kernels, values, more["onnxruntime"] = [], {}, f"does not run it: {str(error)[:150]}"
                opset = next(o.version for o in model.opset_import if o.domain in ("", "ai.onnx"))
                out.source = f"{versions}, torch.onnx.export(dynamo={by == 'torch_dynamo'}), opset {opset}; results of torch on the CPU"
                out.write(name, model.SerializeToString(), inputs, outputs, note, onnx_values.count_indexed(model), tolerance, kernels, folder=by, values=values, **more)
            except Exception as error:  # the others are written, and the list at the end names it
                out.fail(f"{by}/{name}", f"{type(error).__name__}: {error}")
    out.finish()


if __name__ == "__main__":
    main()
