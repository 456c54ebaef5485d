# Records what TensorBoard's hparams API writes: data/hparams.json. Needs the package tensorboard; run by hand.
#
#     python3 record_hparams.py > data/hparams.json
import json
import tensorboard
from tensorboard.compat.proto import summary_pb2
from tensorboard.plugins.hparams import api_pb2, metadata, plugin_data_pb2, summary_v2 as hp

# One at a time: the order of a map's entries means nothing, and differs.
starts = {k: hp.hparams_pb({k: v}, trial_id="trial", start_time_secs=1000.5) for k, v in {"rate": 0.01, "units": 16, "optimizer": "sgd", "nesterov": True}.items()}
config = hp.hparams_config_pb(
    hparams=[hp.HParam("rate", hp.RealInterval(0.001, 0.1), display_name="Rate", description="how fast"), hp.HParam("units", hp.Discrete([8, 16])),
             hp.HParam("optimizer", hp.Discrete(["adam", "sgd"])), hp.HParam("layers", hp.IntInterval(1, 4)), hp.HParam("nesterov", hp.Discrete([False, True]))],
    metrics=[hp.Metric("loss", group="validation", display_name="Loss", description="of the rest", dataset_type=hp.Metric.VALIDATION)], time_created_secs=5.25)
end = summary_pb2.Summary()
end.value.add(tag=metadata.SESSION_END_INFO_TAG, tensor=metadata.NULL_TENSOR, metadata=metadata.create_summary_metadata(
    plugin_data_pb2.HParamsPluginData(session_end_info=plugin_data_pb2.SessionEndInfo(status=api_pb2.STATUS_FAILURE, end_time_secs=7.5))))
hexed = {k: v.SerializeToString(deterministic=True).hex() for k, v in {**starts, "config": config, "end": end}.items()}
print(json.dumps({"source": f"TensorBoard {tensorboard.__version__}", **hexed}, indent=1))
