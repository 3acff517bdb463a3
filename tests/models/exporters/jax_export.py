"""Writes tests/models/jax (jax.jit(f).lower().as_text()) and tests/models/jax_export (jax.export, also with symbolic dims).

    python3 tests/models/exporters/jax_export.py [PATTERN...]
"""

import stablehlo  # sets JAX's environment, so it comes before jax
import jax
import numpy as np
from jax import export

import corpus
import jax_cases
import jax_models

jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")  # file names without folders in locations


def labels(tree, prefix):
    leaves = jax.tree_util.tree_flatten_with_path(tree)[0]
    return [(f"{prefix}{jax.tree_util.keystr(path)}", np.asarray(leaf)) for path, leaf in leaves]


def arrays(tree):
    return [np.asarray(x) for x in jax.tree.leaves(tree)]


def main():
    source = f"jax {jax.__version__}, jax.jit(f, keep_unused=True).lower(...).as_text(), CPU"
    out = corpus.Corpus(source, "jax", "mlir")
    for name, make, note, tolerance, options in [*jax_cases.cases(), *jax_models.models()]:
        if not out.wants(name):
            continue
        with jax.enable_x64(options.get("x64", False)):
            made = make(corpus.rng(name))
            f, arguments = made[0], made[1]
            jit = jax.jit(f, keep_unused=True, **(made[2] if len(made) > 2 else {}))
            lowered = jit.lower(*arguments)
            text = lowered.as_text(debug_info=options.get("debug_info", False))
            if options.get("generic"):
                text = stablehlo.generic(text)
            results = jax.tree.map(np.asarray, lowered.compile()(*arguments))
            try:
                kernels, values = stablehlo.kernels(text, arrays(arguments))
            except Exception as error:  # what stands beside the model may be missing, the model may not
                print(f"{name}: no kernels: {str(error)[:300]}")
                kernels, values = [], {}
        out.write(name, text.encode(), labels(arguments, "args"), labels(results, "result"), note, stablehlo.count_indexed(text), tolerance,
                  kernels, values=values)
    out.source = f"jax {jax.__version__}, jax.export.export(jax.jit(f))(...).mlir_module(), platforms cpu"
    for name, make, note, tolerance, _ in jax_models.exported():
        if not out.wants(name, "jax_export"):
            continue
        f, arguments, shapes = make(corpus.rng(f"jax_export/{name}"))
        if shapes is None:
            specs = arguments
        else:
            scope = export.SymbolicScope(("n >= 2",) if "n" in ", ".join(shapes).split(", ") else ())
            specs = [jax.ShapeDtypeStruct(export.symbolic_shape(s, scope=scope), np.asarray(a).dtype) for s, a in zip(shapes, arguments)]
        exported = export.export(jax.jit(f), platforms=["cpu"])(*specs)
        text = exported.mlir_module()
        results = jax.tree.map(np.asarray, exported.call(*arguments))
        kernels, values = stablehlo.kernels(text, arrays(arguments)) if shapes is None else ([], {})
        out.write(name, text.encode(), labels(arguments, "args"), labels(results, "result"), note, stablehlo.count_indexed(text), tolerance,
                  kernels, folder="jax_export", values=values)
    out.finish()


if __name__ == "__main__":
    main()
