# Records what TensorFlow's summary ops write: data/summaries.json, one case a line. Needs TensorFlow; run by hand.
#
#     python3 record.py > data/summaries.json
import json, sys
import numpy as np
import tensorflow as tf

rng = np.random.Generator(np.random.PCG64(7))
cases = []

def plain(x):
    x = np.asarray(x)
    if x.dtype.kind in "OS":
        return [s.decode() for s in x.reshape(-1)]
    if x.dtype.kind == "f" or x.dtype.name == "bfloat16":
        return [repr(float(v)) for v in x.reshape(-1)]
    return [int(v) for v in x.reshape(-1)]

def case(id, op, inputs, attrs=None, error=None):
    attrs = attrs or {}
    entry = {"id": id, "op": op, "inputs": {}, "attrs": {}}
    given = {}
    for name, x in inputs.items():
        t = tf.convert_to_tensor(x)
        given[name] = t
        dtype = t.dtype.name
        entry["inputs"][name] = {"dtype": dtype, "shape": list(t.shape), "values": plain(t.numpy())}
    for name, v in attrs.items():
        entry["attrs"][name] = v
    if "bad_color" in attrs:
        attrs = dict(attrs, bad_color=tf.make_tensor_proto(np.array(attrs["bad_color"], np.uint8)))
    try:
        with tf.Graph().as_default():
            out = getattr(tf.raw_ops, op)(**{k: tf.constant(v.numpy()) for k, v in given.items()}, **attrs)
            with tf.compat.v1.Session() as s:
                entry["summary"] = s.run(out).hex()
    except tf.errors.OpError as e:
        entry["error"] = type(e).__name__
    cases.append(entry)

f = np.float32
grid = lambda *shape: (rng.integers(-256, 256, shape) / 64).astype(f)
for name, v in [("half", f(0.5)), ("zero", f(0)), ("minus_zero", f(-0.0)), ("nan", f(np.nan)), ("infinity", f(np.inf)), ("int64", np.int64(2**40)), ("float16", np.float16(1.5)), ("uint8", np.uint8(200)), ("float64", np.float64(1e300))]:
    case("scalar_" + name, "ScalarSummary", {"tags": "loss/" + name, "values": v})
case("scalar_vector", "ScalarSummary", {"tags": ["a", "b", ""], "values": np.array([1, 2, 3], f)})
for name, v in [("grid", grid(5, 7)), ("empty", np.zeros(0, f)), ("one", f(3)), ("zeros", np.zeros(4, f)), ("ints", rng.integers(-9, 9, 20).astype(np.int32)),
                ("edges", np.array([1e-13, 1e-12, 1.1e-12, -1e-12, 1e20, 2e20, -3e20], np.float64)), ("float16", grid(9).astype(np.float16)), ("uint8", rng.integers(0, 255, 30).astype(np.uint8)),
                ("nan", np.array([1, np.nan], f)), ("infinity", np.array([1, -np.inf], f))]:
    case("histogram_" + name, "HistogramSummary", {"tag": "h/" + name, "values": v})
image = lambda *shape: (rng.integers(0, 256, shape) / 64).astype(f)
bad = image(1, 3, 4, 3); bad[0, 1, 2, 1] = np.nan; bad[0, 0, 0, 0] = np.inf
signed_bad = grid(1, 3, 4, 3); signed_bad[0, 2, 3, 2] = -np.inf
for name, v, attrs in [("grey", image(2, 4, 5, 1), {"max_images": 3}), ("rgb", image(4, 3, 3, 3), {"max_images": 2}), ("rgba", image(1, 3, 3, 4), {"max_images": 1}), ("signed", grid(2, 4, 5, 3), {"max_images": 3}),
                       ("zeros", np.zeros((1, 2, 2, 1), f), {"max_images": 1}), ("tiny", np.full((1, 2, 2, 1), -1e-8, f), {"max_images": 1}), ("bad", bad, {"max_images": 1}), ("signed_bad", signed_bad, {"max_images": 1, "bad_color": [1, 2, 3]}),
                       ("all_bad", np.full((1, 2, 2, 3), np.nan, f), {"max_images": 1}), ("uint8", rng.integers(0, 256, (2, 6, 5, 3)).astype(np.uint8), {"max_images": 12}), ("float16", image(1, 5, 5, 3).astype(np.float16), {"max_images": 1}),
                       ("signed_float16", grid(1, 5, 5, 3).astype(np.float16), {"max_images": 1}), ("float64", image(1, 5, 5, 1).astype(np.float64), {"max_images": 1}), ("smooth", np.add.outer(np.arange(20), np.arange(30)).astype(f).reshape(1, 20, 30, 1), {"max_images": 1}),
                       ("none", np.zeros((0, 2, 2, 1), f), {"max_images": 3})]:
    case("image_" + name, "ImageSummary", {"tag": "i/" + name, "tensor": v}, attrs)
sound = np.array([[0, 0.5, -0.5, 1, -1, 2, -2, 0.00001526, 1 / 65536, 3 / 65536]], f)
case("audio_mono", "AudioSummaryV2", {"tag": "a", "tensor": sound, "sample_rate": f(8000)}, {"max_outputs": 1})
case("audio_stereo", "AudioSummaryV2", {"tag": "a", "tensor": grid(2, 6, 2) / 8, "sample_rate": f(44100)}, {"max_outputs": 3})
case("audio_rate", "AudioSummaryV2", {"tag": "a", "tensor": grid(5, 3) / 8, "sample_rate": f(22050.5)}, {"max_outputs": 11})
meta = tf.compat.v1.SummaryMetadata(display_name="d", summary_description="s", plugin_data=tf.compat.v1.SummaryMetadata.PluginData(plugin_name="text", content=b"xyz")).SerializeToString().decode()
for name, v in [("text", np.array(["a", "", "longer text"], object)), ("scalar", f(2)), ("matrix", grid(2, 3)), ("int64", np.array([1, -1], np.int64)), ("bool", np.array([True, False])), ("empty", np.zeros((0, 3), f)), ("float16", np.float16(1.5))]:
    case("tensor_" + name, "TensorSummaryV2", {"tag": "t/" + name, "tensor": v, "serialized_summary_metadata": meta if name == "text" else ""})
print('{"source": "TensorFlow %s (Apache License 2.0), raw ops run in a graph; record.py", "cases": [' % tf.__version__)
print(",\n".join(json.dumps(c, separators=(",", ":")) for c in cases))
print("]}")
