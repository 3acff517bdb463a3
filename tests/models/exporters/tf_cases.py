"""TensorFlow functions with their inputs. tf_export.py, tflite_export.py and tf2onnx_export.py write them, each in its format."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
import numpy as np
import tensorflow as tf
from tensorflow.compiler.tf2xla.python import xla

from corpus import FLOAT_MATH, MOVES, real, small

ALL = ("tensorflow", "tflite", "tf2onnx")
HLO, LITE, ONNX = ("tensorflow",), ("tflite",), ("tf2onnx",)


def index(r, *shape, low=0, high=5, dtype=np.int32):
    return r.integers(low, high, shape).astype(dtype)


def distinct(r, count, extent, dtype=np.int32):
    return r.permutation(extent)[:count].astype(dtype)


def cases():
    """(name, make, note, tolerance, exporters, options): make(r) returns (f, arguments). Options: dynamic ({place of argument: its dims without
    a size}, for TFLite and tf2onnx), opset (tf2onnx), quantize (TFLite)."""
    out = []

    def case(note, tolerance=MOVES, name=None, by=ALL, **options):
        def add(make):
            out.append((name or make.__name__, make, note, tolerance, by, options))
            return make
        return add

    # gathers
    @case("tf.gather of rows", opset=13)
    def gather(r):
        return (lambda x, i: tf.gather(x, i)), (real(r, 5, 4), index(r, 2, 3))

    @case("tf.gather along axis 1, i64 indices")
    def gather_axis(r):
        return (lambda x, i: tf.gather(x, i, axis=1)), (real(r, 3, 5, 2), index(r, 4, dtype=np.int64))

    @case("tf.gather with batch_dims=1")
    def gather_batch(r):
        return (lambda x, i: tf.gather(x, i, batch_dims=1)), (real(r, 3, 5, 2), index(r, 3, 4))

    @case("tf.gather with axis 2 and batch_dims=1")
    def gather_batch_axis(r):
        return (lambda x, i: tf.gather(x, i, axis=2, batch_dims=1)), (real(r, 2, 3, 5), index(r, 2, 4))

    @case("tf.gather of i8 rows")
    def gather_i8(r):
        return (lambda x, i: tf.gather(x, i)), (small(r, 5, 4, dtype=np.int8), index(r, 6))

    @case("tf.gather of one row by a scalar index")
    def gather_scalar(r):
        return (lambda x, i: tf.gather(x, i)), (real(r, 5, 4), np.int32(3))

    @case("tf.gather whose indices are partly outside: XLA fills with zeros what a GPU would", by=HLO)
    def gather_outside(r):
        return (lambda x, i: tf.gather(x, i)), (real(r, 5, 4), np.array([0, 9, -1, 4], np.int32))

    @case("tf.gather_nd of slices")
    def gather_nd(r):
        return (lambda x, i: tf.gather_nd(x, i)), (real(r, 4, 5, 3), np.stack([index(r, 6, high=4), index(r, 6)], 1))

    @case("tf.gather_nd of elements, index tensor of rank 3")
    def gather_nd_elements(r):
        return (lambda x, i: tf.gather_nd(x, i)), (real(r, 4, 5), np.stack([index(r, 2, 3, high=4), index(r, 2, 3)], -1))

    @case("tf.gather_nd with batch_dims=1")
    def gather_nd_batch(r):
        return (lambda x, i: tf.gather_nd(x, i, batch_dims=1)), (real(r, 3, 5, 2), index(r, 3, 4, 1))

    @case("gather_nd of a tensor that is broadcast first: BROADCAST_TO around GATHER_ND")
    def gather_nd_broadcast(r):
        return (lambda x, i: tf.gather_nd(tf.broadcast_to(x, [3, 5, 4]), i)), (real(r, 1, 5, 4), np.stack([index(r, 4, high=3), index(r, 4)], 1))

    @case("take_along_axis, as tf.experimental.numpy lowers it")
    def take_along_axis(r):
        return (lambda x, i: tf.experimental.numpy.take_along_axis(x, i, 1)), (real(r, 3, 6), index(r, 3, 2, high=6))

    @case("boolean_mask: the number of rows is known at run time", by=("tflite", "tf2onnx"))
    def boolean_mask(r):
        return (lambda x, m: tf.boolean_mask(x, m)), (real(r, 6, 3), np.array([1, 0, 0, 1, 1, 0], bool))

    @case("top_k, then the rows that it chose")
    def top_k_rows(r):
        return (lambda s, x: tf.gather(x, tf.math.top_k(s, 3).indices)), (r.permutation(8).astype(np.float32), real(r, 8, 3))

    @case("argmax, then gather with batch_dims")
    def argmax_gather(r):
        return (lambda s, x: tf.gather(x, tf.argmax(s, axis=1, output_type=tf.int32), batch_dims=1)), \
            (np.stack([r.permutation(5) for _ in range(3)]).astype(np.float32), real(r, 3, 5, 2))

    @case("reverse_sequence")
    def reverse_sequence(r):
        return (lambda x, n: tf.reverse_sequence(x, n, seq_axis=1)), (real(r, 3, 5, 2), np.array([5, 2, 3], np.int32))

    @case("roll by a run-time shift", by=HLO)
    def roll(r):
        return (lambda x, s: tf.roll(x, s, axis=1)), (real(r, 3, 7), np.int32(2))

    @case("tf.gather around elementwise work: scaled rows with bias and relu")
    def gather_epilogue(r):
        return (lambda x, i, b: tf.nn.relu(tf.gather(x, i) * 2.0 + b)), (small(r, 5, 4), index(r, 6), small(r, 4))

    @case("index arithmetic before a gather: floordiv and floormod")
    def gather_arithmetic(r):
        return (lambda x, i: tf.gather_nd(x, tf.stack([i // 4, i % 4], axis=-1))), (real(r, 3, 4, 2), index(r, 5, high=12))

    @case("clipped indices")
    def gather_clipped(r):
        return (lambda x, i: tf.gather(x, tf.clip_by_value(i, 0, 4))), (real(r, 5, 3), index(r, 6, low=-9, high=9))

    @case("strided slices of indices and operand around a gather")
    def gather_strided(r):
        return (lambda x, i: tf.gather(x[:, ::2], i[1:])), (real(r, 5, 6), index(r, 4))

    @case("searchsorted buckets pick rows")
    def searchsorted(r):
        return (lambda edges, x, t: tf.gather(t, tf.reduce_sum(tf.cast(x[:, None] >= edges[None], tf.int32), axis=1))), \
            (np.sort(real(r, 6)), real(r, 5), real(r, 7, 2))

    # scatters
    @case("tf.scatter_nd into zeros, duplicates add up")
    def scatter_nd(r):
        return (lambda i, u: tf.scatter_nd(i, u, [6, 4])), (index(r, 8, 1, high=6), small(r, 8, 4))

    @case("tf.scatter_nd of elements")
    def scatter_nd_elements(r):
        return (lambda i, u: tf.scatter_nd(i, u, [4, 5])), (np.stack([index(r, 9, high=4), index(r, 9)], 1), small(r, 9))

    @case("tf.scatter_nd of i32 with i64 indices and shape")
    def scatter_nd_i64(r):
        return (lambda i, u: tf.scatter_nd(i, u, tf.constant([6, 2], tf.int64))), (index(r, 8, 1, high=6, dtype=np.int64), small(r, 8, 2, dtype=np.int32))

    @case("tf.scatter_nd whose shape is an input", by=("tflite", "tf2onnx"))
    def scatter_nd_shape_input(r):
        return (lambda i, u, s: tf.scatter_nd(i, u, s)), (index(r, 5, 1, high=6), small(r, 5, 3), np.array([6, 3], np.int32))

    @case("tf.scatter_nd whose shape is that of another tensor", by=("tflite", "tf2onnx"), dynamic={2: [0]})
    def scatter_nd_shape_like(r):
        return (lambda i, u, like: tf.scatter_nd(i, u, tf.shape(like))), (index(r, 5, 1, high=6), small(r, 5, 3), real(r, 6, 3))

    for method in ("update", "add", "sub", "min", "max"):
        @case(f"tf.tensor_scatter_nd_{method} of rows, distinct indices", name=f"tensor_scatter_nd_{method}", opset=18,
              by=ALL if method in ("update", "add") else ("tensorflow", "tf2onnx"))
        def tensor_scatter_nd(r, method=method):
            return (lambda x, i, u: getattr(tf, f"tensor_scatter_nd_{method}")(x, i, u)), \
                (small(r, 6, 4), distinct(r, 4, 6)[:, None], small(r, 4, 4))

    for method in ("add", "sub", "min", "max"):
        @case(f"tf.tensor_scatter_nd_{method} with duplicates", name=f"tensor_scatter_nd_{method}_duplicates", by=("tensorflow", "tf2onnx"), opset=18)
        def tensor_scatter_nd_duplicates(r, method=method):
            return (lambda x, i, u: getattr(tf, f"tensor_scatter_nd_{method}")(x, i, u)), \
                (small(r, 6, 4), index(r, 9, 1, high=6), small(r, 9, 4))

    @case("tf.tensor_scatter_nd_add with duplicates: the converter gathers, adds and scatters, so that the operand counts once per duplicate", by=LITE)
    def tensor_scatter_nd_add_converted(r):
        return (lambda x, i, u: tf.tensor_scatter_nd_add(x, i, u)), (small(r, 6, 4), index(r, 9, 1, high=6), small(r, 9, 4))

    @case("tf.tensor_scatter_nd_update of elements", opset=16)
    def tensor_scatter_nd_update_elements(r):
        cells = distinct(r, 7, 20)
        return (lambda x, i, u: tf.tensor_scatter_nd_update(x, i, u)), (small(r, 4, 5), np.stack([cells // 5, cells % 5], 1), small(r, 7))

    @case("tensor_scatter_nd_add with indices outside: dropped", by=HLO)
    def tensor_scatter_nd_add_outside(r):
        return (lambda x, i, u: tf.tensor_scatter_nd_add(x, i, u)), (small(r, 5, 3), np.array([[0], [9], [-1], [4]], np.int32), small(r, 4, 3))

    @case("SparseToDense with a default value", by=("tflite",))
    def sparse_to_dense(r):
        return (lambda i, v: tf.raw_ops.SparseToDense(sparse_indices=i, output_shape=[4, 5], sparse_values=v, default_value=-1.0, validate_indices=False)), \
            (np.array([[0, 1], [1, 4], [3, 0]], np.int32), small(r, 3))

    @case("SparseToDense of a list of indices, i32 values", by=("tflite",))
    def sparse_to_dense_list(r):
        return (lambda i, v: tf.raw_ops.SparseToDense(sparse_indices=i, output_shape=[8], sparse_values=v, default_value=0, validate_indices=False)), \
            (np.array([1, 4, 6], np.int32), small(r, 3, dtype=np.int32))

    @case("one_hot")
    def one_hot(r):
        return (lambda i: tf.one_hot(i, 6)), (index(r, 4, high=6),)

    # dynamic update slice
    @case("XlaDynamicUpdateSlice: a token into a cache", by=("tensorflow", "tflite"))
    def dynamic_update_slice(r):
        return (lambda x, u, s: xla.dynamic_update_slice(x, u, s)), \
            (real(r, 1, 8, 2, 4), real(r, 1, 1, 2, 4), np.array([0, 5, 0, 0], np.int32))

    @case("XlaDynamicUpdateSlice whose start is clamped", by=("tensorflow", "tflite"))
    def dynamic_update_slice_clamped(r):
        return (lambda x, u, s: xla.dynamic_update_slice(x, u, s)), \
            (real(r, 5, 4), real(r, 2, 3), np.array([9, -2], np.int32))

    @case("XlaDynamicUpdateSlice of i8, i64 starts made of a scalar", by=("tensorflow", "tflite"))
    def dynamic_update_slice_i8(r):
        return (lambda x, u, t: xla.dynamic_update_slice(x, u, tf.stack([tf.zeros_like(t), t]))), \
            (small(r, 2, 6, dtype=np.int8), small(r, 2, 1, dtype=np.int8), np.int64(4))

    @case("a slice at a run-time begin: tf.slice")
    def slice_runtime(r):
        return (lambda x, b: tf.slice(x, b, [2, 3])), (real(r, 5, 4), np.array([2, 1], np.int32))

    # segments
    @case("tf.math.segment_sum; the extent of the result is the last id + 1", by=("tflite", "tf2onnx"))
    def segment_sum(r):
        return (lambda u, i: tf.math.segment_sum(u, i)), (small(r, 8, 3), np.array([0, 0, 1, 2, 2, 2, 3, 4], np.int32))

    @case("tf.math.segment_sum with ids that skip a segment (an error for TensorFlow Lite)", by=ONNX)
    def segment_sum_gap(r):
        return (lambda u, i: tf.math.segment_sum(u, i)), (small(r, 5, 2), np.array([0, 0, 3, 3, 5], np.int32))

    @case("tf.math.segment_sum of i32 on the flat list", by=("tflite",))
    def segment_sum_i32(r):
        return (lambda u, i: tf.math.segment_sum(u, i)), (small(r, 6, dtype=np.int32), np.array([0, 1, 1, 1, 2, 2], np.int32))

    for method in ("sum", "prod", "max", "min"):
        @case(f"tf.math.unsorted_segment_{method}; one segment stays empty", name=f"unsorted_segment_{method}")
        def unsorted_segment(r, method=method):
            return (lambda u, i: getattr(tf.math, f"unsorted_segment_{method}")(u, i, 5)), (small(r, 8, 3), index(r, 8, high=4))

        @case(f"tf.math.unsorted_segment_{method} of i32; negative ids are dropped", name=f"unsorted_segment_{method}_negative",
              by=("tensorflow", "tflite"))
        def unsorted_segment_negative(r, method=method):
            return (lambda u, i: getattr(tf.math, f"unsorted_segment_{method}")(u, i, 4)), (small(r, 8, 2, dtype=np.int32), index(r, 8, low=-2, high=4))

    @case("unsorted_segment_sum with ids of rank 2", by=("tensorflow", "tflite"))
    def unsorted_segment_sum_rank2(r):
        return (lambda u, i: tf.math.unsorted_segment_sum(u, i, 4)), (small(r, 3, 4, 2), index(r, 3, 4, high=4))

    @case("unsorted_segment_mean", FLOAT_MATH)
    def unsorted_segment_mean(r):
        return (lambda u, i: tf.math.unsorted_segment_mean(u, i, 4)), (real(r, 8, 3), index(r, 8, high=4))

    @case("unsorted_segment_sum whose number of segments is an input", by=("tflite",))
    def unsorted_segment_sum_count_input(r):
        return (lambda u, i, n: tf.math.unsorted_segment_sum(u, i, n)), (small(r, 8, 2), index(r, 8, high=4), np.int32(6))

    @case("tf.math.segment_mean and segment_max", FLOAT_MATH, by=("tf2onnx",))
    def segment_mean_max(r):
        return (lambda u, i: (tf.math.segment_mean(u, i), tf.math.segment_max(u, i))), (real(r, 6, 2), np.array([0, 0, 1, 1, 1, 2], np.int32))

    @case("bincount by unsorted_segment_sum of ones")
    def bincount(r):
        return (lambda i: tf.math.unsorted_segment_sum(tf.ones_like(i), i, 6)), (index(r, 12, high=6),)

    # embeddings
    @case("tf.nn.embedding_lookup with a table in the file")
    def embedding_lookup(r):
        table = real(r, 9, 4)
        return (lambda i: tf.nn.embedding_lookup(tf.constant(table), i)), (index(r, 2, 3, high=9),)

    @case("a Keras Embedding layer")
    def keras_embedding(r):
        layer = tf.keras.layers.Embedding(9, 4, embeddings_initializer=tf.constant_initializer(real(r, 9, 4)))
        layer.build((None,))
        return (lambda i: layer(i)), (index(r, 2, 3, high=9),)

    @case("an embedding bag: gather and unsorted_segment_sum")
    def embedding_bag(r):
        return (lambda t, i, bag: tf.math.unsorted_segment_sum(tf.gather(t, i), bag, 3)), \
            (small(r, 8, 4), index(r, 7, high=8), np.array([0, 0, 1, 1, 1, 2, 2], np.int32))

    @case("the gradient of an embedding look-up, densified", by=("tensorflow", "tf2onnx"))
    def embedding_grad(r):
        def f(t, i, w):
            with tf.GradientTape() as tape:
                tape.watch(t)
                loss = tf.reduce_sum(tf.gather(t, i) * w)
            return tf.convert_to_tensor(tape.gradient(loss, t))
        return f, (small(r, 6, 4), index(r, 5, high=6), small(r, 5, 4))

    @case("value and gradient of gather_nd", by=HLO)
    def gather_nd_grad(r):
        def f(x, i, w):
            with tf.GradientTape() as tape:
                tape.watch(x)
                loss = tf.reduce_sum(tf.gather_nd(x, i) * w)
            return loss, tf.convert_to_tensor(tape.gradient(loss, x))
        return f, (small(r, 4, 5), np.stack([index(r, 6, high=4), index(r, 6)], 1), small(r, 6))

    @case("an EMBEDDING_LOOKUP of a quantized table (dynamic range quantization)", FLOAT_MATH, by=LITE, quantize="dynamic")
    def embedding_dynamic_range(r):
        table = real(r, 300, 8)
        return (lambda i: tf.nn.embedding_lookup(tf.constant(table), i)), (index(r, 6, high=300),)

    @case("a table in f16 with DEQUANTIZE before the gather", FLOAT_MATH, by=LITE, quantize="float16")
    def embedding_float16(r):
        table = real(r, 40, 6)
        return (lambda i: tf.gather(tf.constant(table), i) * 2.0), (index(r, 6, high=40),)

    @case("a fully quantized model: i8 table, QUANTIZE and DEQUANTIZE around", (0.05, "the file computes in i8"), by=LITE, quantize="int8")
    def embedding_int8(r):
        table = real(r, 20, 4)
        return (lambda x, i: tf.gather(tf.constant(table), i) + x), (real(r, 3, 4), index(r, 3, high=20))

    # open extents
    @case("a gather with open rows and indices", by=("tflite", "tf2onnx"), dynamic={0: [0], 1: [0]})
    def dynamic_gather(r):
        return (lambda x, i: tf.gather(x, i)), (real(r, 6, 4), index(r, 5, high=6))

    @case("tensor_scatter_nd_update with open extents", by=("tflite", "tf2onnx"), dynamic={0: [0], 1: [0], 2: [0]})
    def dynamic_scatter_update(r):
        return (lambda x, i, u: tf.tensor_scatter_nd_update(x, i, u)), (small(r, 6, 4), distinct(r, 3, 6)[:, None], small(r, 3, 4))

    @case("gather with batch_dims and an open batch", by=("tflite", "tf2onnx"), dynamic={0: [0], 1: [0]})
    def dynamic_gather_batch(r):
        return (lambda x, i: tf.gather(x, i, batch_dims=1)), (real(r, 3, 5, 2), index(r, 3, 4))

    @case("the last token of each sequence", by=("tflite", "tf2onnx"), dynamic={0: [0, 1], 1: [0]})
    def dynamic_last_token(r):
        return (lambda x, n: tf.gather(x, n - 1, batch_dims=1)), (real(r, 3, 5, 2), np.array([5, 1, 3], np.int32))

    # control flow
    @case("tf.while_loop that fills a cache: the update stands in the loop's body")
    def while_cache(r):
        def f(cache, tokens):
            body = lambda k, c: (k + 1, tf.tensor_scatter_nd_update(c, tf.reshape(k + 2, [1, 1]), tokens[k][None]))
            return tf.while_loop(lambda k, c: k < 3, body, (tf.constant(0), cache), maximum_iterations=3)[1]
        return f, (small(r, 6, 2), small(r, 3, 2))

    @case("tf.cond with a gather in each branch")
    def cond_gather(r):
        return (lambda x, i, p: tf.cond(p, lambda: tf.gather(x, i), lambda: tf.gather(x * 2.0, i[::-1]))), (small(r, 5, 3), index(r, 4), np.bool_(False))

    # models
    @case("a text model with cache: embedding, cache update, attention over the cache, logits", FLOAT_MATH, by=("tensorflow", "tflite"))
    def text_model_cache(r):
        d, length = 8, 6
        table, q, k, v = (real(r, 10, d) * np.float32(0.3), *(real(r, d, d) * np.float32(0.3) for _ in range(3)))

        def f(token, place, keys, values):
            x = tf.gather(tf.constant(table), token)
            at = tf.stack([0, place, 0])
            keys = xla.dynamic_update_slice(keys, tf.matmul(x, k)[None], at)
            values = xla.dynamic_update_slice(values, tf.matmul(x, v)[None], at)
            score = tf.einsum("bd,bld->bl", tf.matmul(x, q), keys) / np.float32(d ** 0.5)
            score = tf.where(tf.range(length)[None] <= place, score, -1e9)
            x = x + tf.einsum("bl,bld->bd", tf.nn.softmax(score), values)
            return tf.matmul(x, tf.constant(table), transpose_b=True), keys, values
        return f, (np.array([3], np.int32), np.int32(4), real(r, 1, length, d), real(r, 1, length, d))

    @case("the text model with the cache written by tensor_scatter_nd_update, a place per sequence", FLOAT_MATH)
    def text_model_positions(r):
        d, length = 8, 6
        table, q, k = (real(r, 10, d) * np.float32(0.3), *(real(r, d, d) * np.float32(0.3) for _ in range(2)))

        def f(token, places, keys):
            x = tf.gather(tf.constant(table), token)
            keys = tf.tensor_scatter_nd_update(keys, tf.stack([tf.range(2), places], 1), tf.matmul(x, k))
            score = tf.reduce_sum(tf.matmul(x, q)[:, None] * keys, axis=-1)
            score = tf.where(tf.range(length)[None] <= places[:, None], score, -1e9)
            x = x + tf.reduce_sum(tf.nn.softmax(score)[..., None] * keys, axis=1)
            return tf.matmul(x, tf.constant(table), transpose_b=True), keys
        return f, (np.array([3, 8], np.int32), np.array([4, 0], np.int32), real(r, 2, length, d))

    @case("one GNN layer: gather, matmul, relu, unsorted_segment_sum", FLOAT_MATH)
    def gnn_layer(r):
        w = real(r, 4, 4)

        def f(h, source, target):
            return h + tf.math.unsorted_segment_sum(tf.nn.relu(tf.matmul(tf.gather(h, source), w)), target, 6)
        return f, (real(r, 6, 4), index(r, 10, high=6), index(r, 10, high=6))

    @case("DLRM: bags of two tables, logistic loss, gradients as rows, tables updated", FLOAT_MATH, by=("tensorflow", "tf2onnx"))
    def dlrm_step(r):
        def f(table, ids, bags, w, y):
            with tf.GradientTape() as tape:
                tape.watch(table)
                pooled = tf.math.unsorted_segment_sum(tf.gather(table, ids), bags, 3)
                loss = tf.reduce_mean((1.0 / (1.0 + tf.exp(-tf.matmul(pooled, w))) - y) ** 2)
            g = tape.gradient(loss, table)
            return loss, tf.tensor_scatter_nd_sub(table, g.indices[:, None], 0.1 * g.values)
        return f, (real(r, 8, 4), index(r, 7, high=8), np.array([0, 0, 1, 1, 1, 2, 2], np.int32), real(r, 4, 1), np.array([[1], [0], [1]], np.float32))

    @case("PointPillars: scatter_nd of features to a canvas")
    def pointpillars_scatter(r):
        cells = r.permutation(30)[:7]
        return (lambda u, c: tf.transpose(tf.scatter_nd(c, u, [5, 6, 3]), [2, 0, 1])[None]), (real(r, 7, 3), np.stack([cells // 6, cells % 6], 1).astype(np.int32))

    @case("mixture of experts: top-1 routing, sorted rows, put back by scatter_nd", FLOAT_MATH)
    def moe_layer(r):
        gate, w = real(r, 4, 3), real(r, 3, 4, 4)

        def f(x):
            expert = tf.argmax(tf.matmul(x, gate), axis=1, output_type=tf.int32)
            order = tf.math.top_k(-(expert * 100 + tf.range(6)), 6).indices
            rows = tf.gather(x, order)
            y = tf.einsum("td,tdh->th", rows, tf.gather(tf.constant(w), tf.gather(expert, order)))
            return tf.scatter_nd(order[:, None], y, [6, 4])
        return f, (real(r, 6, 4),)

    @case("a paged cache is written by (page, offset) and read by a block table")
    def paged_cache(r):
        def f(pages, keys, slots, blocks):
            pages = tf.tensor_scatter_nd_update(pages, tf.stack([slots // 4, slots % 4], 1), keys)
            return pages, tf.reshape(tf.gather(pages, blocks), [2, 8, 3])
        return f, (real(r, 4, 4, 3), real(r, 5, 3), np.array([3, 7, 12, 0, 9], np.int32), index(r, 2, 2, high=4))

    @case("rotary embedding with cos and sin gathered by position", FLOAT_MATH)
    def rotary(r):
        angle = np.arange(8)[:, None] / 100.0 ** (np.arange(2)[None] / 2)
        cos, sin = np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)

        def f(x, position):
            c, s = tf.gather(cos, position)[:, :, None], tf.gather(sin, position)[:, :, None]
            a, b = tf.split(x, 2, -1)
            return tf.concat([a * c - b * s, b * c + a * s], -1)
        return f, (real(r, 2, 3, 2, 4), index(r, 2, 3, high=8))

    @case("bf16 rows are gathered and scattered", by=HLO)
    def bf16_rows(r):
        bf16 = tf.bfloat16.as_numpy_dtype
        return (lambda x, i, u: (tf.gather(x, i[:, 0]), tf.tensor_scatter_nd_add(x, i, u))), \
            (small(r, 6, 4, dtype=bf16), index(r, 5, 1, high=6), small(r, 5, 4, dtype=bf16))

    # StableHLO operators of TensorFlow Lite
    for method in ("update", "add", "min", "max"):
        @case(f"tf.tensor_scatter_nd_{method} as STABLEHLO_SCATTER, duplicates among the indices", name=f"stablehlo_scatter_{method}", by=LITE,
              stablehlo=True)
        def stablehlo_scatter(r, method=method):
            i = distinct(r, 4, 6) if method == "update" else index(r, 7, high=6)
            return (lambda x, i, u: getattr(tf, f"tensor_scatter_nd_{method}")(x, i, u)), (small(r, 6, 4), i[:, None], small(r, len(i), 4))

    @case("jax: x.at[i].add(u) by jax2tf: index arithmetic in TensorFlow Lite operators, STABLEHLO_SCATTER", by=LITE, jax=True)
    def jax_at_add(r):
        return (lambda x, i, u: x.at[i].add(u)), (small(r, 5, 4), index(r, 7, low=-5), small(r, 7, 4))

    @case("jax: x.at[i].max(u, mode=drop) by jax2tf, indices outside", by=LITE, jax=True)
    def jax_at_max_drop(r):
        return (lambda x, i, u: x.at[i].max(u, mode="drop")), (small(r, 5, 4), index(r, 7, low=-8, high=9), small(r, 7, 4))

    @case("jax: a KV cache written by dynamic_update_slice, by jax2tf", by=LITE, jax=True)
    def jax_kv_cache(r):
        def f(cache, token, place):
            from jax import lax
            return lax.dynamic_update_slice(cache, token, (0, place, 0))
        return f, (real(r, 2, 6, 4), real(r, 2, 1, 4), np.int32(5))

    @case("jax: vmap of x.at[i].set(u) by jax2tf: a scatter with batching dims", by=LITE, jax=True)
    def jax_vmap_set(r):
        def f(x, i, u):
            import jax
            return jax.vmap(lambda x, i, u: x.at[i].set(u))(x, i, u)
        return f, (small(r, 3, 5, 2), np.stack([distinct(r, 2, 5) for _ in range(3)]), small(r, 3, 2, 2))

    @case("jax: take with mode fill, by jax2tf", by=LITE, jax=True)
    def jax_take_fill(r):
        def f(x, i):
            import jax.numpy as jnp
            return jnp.take(x, i, axis=0, mode="fill", fill_value=-1)
        return f, (real(r, 5, 4), index(r, 7, low=0, high=5))

    @case("jax: windows of two rows by dynamic_slice under vmap, by jax2tf", by=LITE, jax=True)
    def jax_windows(r):
        def f(x, s):
            import jax
            return jax.vmap(lambda s: jax.lax.dynamic_slice(x, (s, 0), (2, 4)))(s)
        return f, (real(r, 6, 4), index(r, 3, low=0, high=5))

    @case("jax: segment_sum by jax2tf", by=LITE, jax=True)
    def jax_segment_sum(r):
        def f(u, i):
            import jax
            return jax.ops.segment_sum(u, i, num_segments=4)
        return f, (small(r, 8, 3), index(r, 8, low=0, high=4))

    for opset in (11, 12, 14, 16, 18):
        @case(f"opset {opset}: gather, gather_nd, tensor_scatter_nd_update", name=f"opset_{opset}", by=ONNX, opset=opset)
        def opset_case(r):
            return (lambda x, i, j, u: (tf.gather(x, i), tf.gather_nd(x, j), tf.tensor_scatter_nd_update(x, j, u))), \
                (small(r, 4, 5), index(r, 3, high=4), np.array([[0, 1], [3, 4], [2, 2]], np.int32), small(r, 3))
    return out


def made(name, make):
    import corpus
    return make(corpus.rng(f"tensorflow/{name}"))


def flat(results):
    return [np.asarray(x) for x in tf.nest.flatten(results)]
