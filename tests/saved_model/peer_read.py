# For peer.sh: TensorFlow loads what peer_write.lua left in argv[1], and must get its output.
import sys
import numpy as np
import tensorflow as tf
from google.protobuf import text_format
from tensorflow.core.protobuf import config_pb2
from tensorflow.python.client import timeline

folder = sys.argv[1]
io = np.load(folder + "/io.npz")
failed = False

def check(what, ok, more=""):
    global failed
    print("passed" if ok else "FAILED", ": ", what, " ", more, sep="")
    failed = failed or not ok

def near(what, got):
    worst = np.abs(np.asarray(got) - io["y"]).max()
    check(what, worst < 1e-6, worst)

for name in ["model", "frozen_model"]:
    f = tf.saved_model.load(folder + "/" + name).signatures["serving_default"]
    near(f"{name}, TensorFlow 2's loader", f(image=tf.constant(io["x"]))["probabilities"])
    with tf.compat.v1.Session(graph=tf.Graph()) as s:
        m = tf.compat.v1.saved_model.loader.load(s, ["serve"], folder + "/" + name)
        d = m.signature_def["serving_default"]
        near(f"{name}, TensorFlow 1's loader", s.run(d.outputs["probabilities"].name, {d.inputs["image"].name: io["x"]}))
reader = tf.train.load_checkpoint(folder + "/model/variables/variables")
shapes = reader.get_variable_to_shape_map()
check("the weights' checkpoint", shapes.get("conv/kernel") == [3, 3, 1, 4] and shapes.get("fc/bias") == [3] and len(shapes) == 8, shapes)
types = tf.train.load_checkpoint(folder + "/types")
for name, dtype in types.get_variable_to_dtype_map().items():
    got = np.asarray(types.get_tensor(name)).astype(np.float64)
    check(f"a checkpoint's {name}", dtype.name == name and np.array_equal(got, [[0, 1, 2], [3, 4, 1 if name == "bool" else 100]] if name != "bool" else [[0, 1, 1], [1, 1, 1]]))
check("all types", len(types.get_variable_to_dtype_map()) == 13)
binary, text = tf.compat.v1.GraphDef(), tf.compat.v1.GraphDef()
binary.ParseFromString(open(folder + "/frozen.pb", "rb").read())
text_format.Parse(open(folder + "/frozen.pbtxt").read(), text)
check("the text form says the same", binary == text)
with tf.compat.v1.Session(graph=tf.Graph()) as s:
    tf.import_graph_def(binary, name="")
    near("the frozen graph", s.run("p:0", {"x:0": io["x"]}))
meta = config_pb2.RunMetadata()
meta.ParseFromString(open(folder + "/run_metadata.pb", "rb").read())
nodes = {n.node_name: n for d in meta.step_stats.dev_stats for n in d.node_stats}
check("run metadata", "p" in nodes and nodes["p"].output[0].tensor_description.shape.dim[1].size == 3, sorted(nodes))
check("TensorFlow's timeline of it", '"MatMul"' in timeline.Timeline(meta.step_stats).generate_chrome_trace_format(show_memory=True))
sys.exit(failed)
