# For peer.sh: what TensorBoard's own readers make of the run in argv[1] is what argv[2] says was written.
import io, json, math, struct, sys, zlib
import numpy as np
from tensorboard.backend.event_processing import data_provider, event_accumulator, plugin_event_multiplexer
from tensorboard.data import provider, server_ingester
from tensorboard.util import tensor_util
from tensorboard import context

folder, written = sys.argv[1], json.load(open(sys.argv[2]))
failed = False

def check(what, got, want):
    global failed
    got_, want_ = np.asarray(got), np.asarray(want)
    numbers = isinstance(want, (list, np.ndarray)) and got_.dtype.kind == want_.dtype.kind == "f"
    ok = bool(np.array_equal(got_, want_, equal_nan=True) if numbers or isinstance(want, np.ndarray) else got == want)
    print("passed" if ok else "FAILED", ": ", what, "" if ok else f": got {got!r}, want {want!r}", sep="")
    failed = failed or not ok

def png_pixels(b):  # 8-bit, not interlaced: filters undone by hand, so that libpng is not compared with itself
    assert b[:8] == b"\x89PNG\r\n\x1a\n"
    at, data = 8, b""
    while at < len(b):
        n, kind = struct.unpack(">I4s", b[at:at + 8])
        body = b[at + 8:at + 8 + n]
        assert struct.unpack(">I", b[at + 8 + n:at + 12 + n])[0] == zlib.crc32(kind + body)
        if kind == b"IHDR": width, height, depth, color = struct.unpack(">IIBB", body[:10])
        if kind == b"IDAT": data += body
        at += 12 + n
    channels = {0: 1, 2: 3, 6: 4}[color]
    raw, rows, before = zlib.decompress(data), [], [0] * (width * channels)
    for y in range(height):
        line = raw[y * (width * channels + 1):(y + 1) * (width * channels + 1)]
        row = []
        for i, v in enumerate(line[1:]):
            a, u = row[i - channels] if i >= channels else 0, before[i]
            c = before[i - channels] if i >= channels else 0
            p = a + u - c
            nearest = min((abs(p - a), 0, a), (abs(p - u), 1, u), (abs(p - c), 2, c))[2]
            row.append((v + [0, a, u, (a + u) // 2, nearest][line[0]]) & 255)
        rows.append(row)
        before = row
    return np.array(rows).reshape(height, width, channels)

acc = event_accumulator.EventAccumulator(folder, size_guidance={k: 0 for k in event_accumulator.DEFAULT_SIZE_GUIDANCE})
acc.Reload()
tags = acc.Tags()
check("tags", {k: sorted(v) if isinstance(v, list) else v for k, v in tags.items()}, {
    "images": ["picture/image/0", "picture/image/1"], "audio": ["sound/audio"], "histograms": ["train/hidden"], "scalars": ["odd", "train/loss"],
    "distributions": ["train/hidden"], "tensors": ["_hparams_/session_end_info", "_hparams_/session_start_info", "classes", "curve", "note"], "graph": True, "meta_graph": False, "run_metadata": ["step 9", "traced"]})
check("file version", acc.file_version, 2.0)
check("scalar steps", [e.step for e in acc.Scalars("train/loss")], list(range(10)))
check("scalars", [e.value for e in acc.Scalars("train/loss")], [float(np.float32(v)) for v in written["losses"]])
check("odd scalars", [e.value for e in acc.Scalars("odd")], [math.nan, math.inf, -math.inf, float(np.float32(1e-40))])
for step, e in enumerate(acc.Histograms("train/hidden")):
    v, h = np.array(written["hidden"][step], np.float32).astype(float), e.histogram_value
    check(f"histogram {step}", [h.min, h.max, h.num, h.sum, h.sum_squares], [v.min(), v.max(), float(len(v)), sum(v), sum(v * v)])
    limits = np.array(h.bucket_limit)
    check(f"buckets {step}", list(h.bucket), [float(np.sum((v >= lo) & (v < hi))) for lo, hi in zip(np.concatenate([[-np.inf], limits[:-1]]), limits)])
for i in range(2):
    e = acc.Images(f"picture/image/{i}")[0]
    check(f"image {i}", png_pixels(e.encoded_image_string), np.array(written["picture"]).reshape(2, 3, 4, 3)[i])
    check(f"image {i}: size", (e.width, e.height), (4, 3))
e = acc.Audio("sound/audio")[0]
check("audio", (e.sample_rate, e.length_frames, e.content_type), (8000.0, 100, "audio/wav"))
import wave
with wave.open(io.BytesIO(e.encoded_audio_string)) as f:
    check("WAV", (f.getnchannels(), f.getsampwidth(), f.getframerate(), f.getnframes()), (1, 2, 8000, 100))
    check("samples", np.frombuffer(f.readframes(100), "<i2"), np.round(np.array(written["sound"]) * 32768).astype(int))
check("text", [s.decode() for s in tensor_util.make_ndarray(acc.Tensors("note")[0].tensor_proto)], ["**bold**", "two"])
check("text: plugin", acc.SummaryMetadata("note").plugin_data.plugin_name, "text")
check("curve", tensor_util.make_ndarray(acc.Tensors("curve")[0].tensor_proto), np.array([[4, 3, 0], [4, 1, 0], [0, 3, 4], [0, 1, 4], [.5, .75, 0], [1, .75, 0]], np.float32))
check("curve: plugin", acc.SummaryMetadata("curve").plugin_data.plugin_name, "pr_curves")
nodes = {n.name: n for n in acc.Graph().node}
check("graph: inputs", list(nodes["loss"].input)[0], "layer/out")
check("graph: shape", [d.size for d in nodes["layer/MatMul"].attr["_output_shapes"].list.shape[0].dim], [-1, 3])
check("graph: types", nodes["layer/MatMul"].attr["T"].type, 1)
check("graph: every input is there", [i for n in nodes.values() for i in n.input if i.lstrip("^").split(":")[0] not in nodes], [])
stats = acc.RunMetadata("step 9").step_stats.dev_stats[0]
check("run metadata", (stats.device, stats.node_stats[0].node_name, stats.node_stats[0].all_end_rel_micros, stats.node_stats[0].memory[0].total_bytes), ("/device:CPU:0", "layer/MatMul", 8, 60))

traced = acc.RunMetadata("traced").step_stats.dev_stats
check("a traced run: nodes", {n.node_name for d in traced for n in d.node_stats} >= {"layer/MatMul", "loss"}, True)
check("a traced run: times", all(n.all_start_micros > 0 and n.op_end_rel_micros >= n.op_start_rel_micros for d in traced for n in d.node_stats), True)

# Counted again from the labels and predictions, as tensorboard.plugins.pr_curve does: floor(p * (n - 1)) is the bucket.
truth, p = [1, 0, 1, 1, 0, 1, 0], np.array([.9, .8, .75, .3, .25, 1, 0], np.float32)
bucket, rows = np.floor(p * np.float32(4)).astype(int), []
for k in range(5):
    tp = sum(1 for t, b in zip(truth, bucket) if t and b >= k)
    fp = sum(1 for t, b in zip(truth, bucket) if not t and b >= k)
    rows.append([tp, fp, 3 - fp, 4 - tp, tp / max(tp + fp, 1e-7), tp / 4])
check("pr_curve", tensor_util.make_ndarray(acc.Tensors("classes")[0].tensor_proto), np.array(rows, np.float32).T)
from tensorboard.plugins.pr_curve import metadata as pr_metadata
check("pr_curve: thresholds", pr_metadata.parse_plugin_metadata(acc.SummaryMetadata("classes").plugin_data.content).num_thresholds, 5)

from tensorboard.plugins.hparams import api_pb2, metadata as hp_metadata
start = hp_metadata.parse_session_start_info_plugin_data(acc.SummaryMetadata("_hparams_/session_start_info").plugin_data.content)
check("hparams", {k: getattr(v, v.WhichOneof("kind")) for k, v in start.hparams.items()}, {"rate": 0.01, "units": 16.0, "optimizer": "sgd", "nesterov": True})
check("hparams: group and time", (start.group_name, start.start_time_secs), ("trial", 1000.5))
end = hp_metadata.parse_session_end_info_plugin_data(acc.SummaryMetadata("_hparams_/session_end_info").plugin_data.content)
check("hparams: the end", (end.status, end.end_time_secs), (api_pb2.STATUS_SUCCESS, 1007.5))

from google.protobuf import text_format
from tensorboard.plugins.projector import projector_config_pb2
config = text_format.Parse(open(folder + "/projector_config.pbtxt").read(), projector_config_pb2.ProjectorConfig())
e = config.embeddings[0]
check("projector", str((config.model_checkpoint_path, e.tensor_name, e.metadata_path, list(e.tensor_shape), e.sprite.image_path, list(e.sprite.single_image_dim))),
      str(("model.ckpt", "w", 'a "quoted" name.tsv', [4, 3], "s.png", [8, 9])))

def through(name, provider_):
    ctx = context.RequestContext()
    runs = [r.run_name for r in provider_.list_runs(ctx, experiment_id="")]
    check(f"{name}: runs", runs, ["."])
    got = provider_.read_scalars(ctx, experiment_id="", plugin_name="scalars", downsample=1000)["."]["train/loss"]
    check(f"{name}: scalars", [d.value for d in got], [float(np.float32(v)) for v in written["losses"]])
    listed = provider_.list_tensors(ctx, experiment_id="", plugin_name="histograms")["."]
    check(f"{name}: histograms", list(listed), ["train/hidden"])
    check(f"{name}: text", list(provider_.list_tensors(ctx, experiment_id="", plugin_name="text")["."]), ["note"])
    images = provider_.list_blob_sequences(ctx, experiment_id="", plugin_name="images")["."]
    check(f"{name}: images", sorted(images), ["picture/image/0", "picture/image/1"])
    check(f"{name}: audio", sorted(provider_.list_blob_sequences(ctx, experiment_id="", plugin_name="audio")["."]), ["sound/audio"])
    check(f"{name}: curves", sorted(provider_.list_tensors(ctx, experiment_id="", plugin_name="pr_curves")["."]), ["classes", "curve"])
    check(f"{name}: hparams", sorted(provider_.list_tensors(ctx, experiment_id="", plugin_name="hparams")["."]), ["_hparams_/session_end_info", "_hparams_/session_start_info"])
    check(f"{name}: graph", "." in provider_.list_blob_sequences(ctx, experiment_id="", plugin_name="graphs"), True)

multiplexer = plugin_event_multiplexer.EventMultiplexer()
multiplexer.AddRunsFromDirectory(folder)
multiplexer.Reload()
through("data provider", data_provider.MultiplexerDataProvider(multiplexer, folder))
try:
    binary = server_ingester.get_server_binary()
except server_ingester.NoDataServerError:
    print("skipped: TensorBoard's data server is not installed")
else:
    server = server_ingester.SubprocessServerDataIngester(binary, folder, reload_interval=1000, channel_creds_type=__import__("tensorboard.util.grpc_util", fromlist=["x"]).ChannelCredsType.LOCAL, samples_per_plugin={})
    server.start()
    through("data server", server.data_provider)
sys.exit(1 if failed else 0)
