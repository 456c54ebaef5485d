"""The workloads in TensorFlow: tf.function, or tf.function(jit_compile=True)."""
import math
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf

from measure import arguments, measure

options = arguments(["graph", "xla"])
XLA = options.variant == "xla"
tf.config.threading.set_intra_op_parallelism_threads(options.threads)
random = np.random.default_rng(1)


class Net:
    """Variables by name, made when the model is traced for the first time."""

    def __init__(self):
        self.variables, self.trainable, self.slots = {}, [], {}

    def get(self, name, shape, scale=None, fill=0.0, trainable=True):
        if name not in self.variables:
            value = random.standard_normal(shape, dtype=np.float32) * np.float32(scale) if scale else np.full(shape, fill, np.float32)
            with tf.init_scope():
                v = tf.Variable(value, trainable=trainable)
                self.variables[name] = v
                if trainable:
                    self.trainable.append(v)
                    self.slots[id(v)] = tf.Variable(tf.zeros_like(v), trainable=False)
        return self.variables[name]

    def momentum_step(self, gradients):
        for v, g in zip(self.trainable, gradients):
            slot = self.slots[id(v)]
            if isinstance(g, tf.IndexedSlices):
                if XLA:  # tf.unique has no fixed shape
                    g = tf.convert_to_tensor(g)
                else:
                    rows, at = tf.unique(g.indices)
                    values = tf.math.unsorted_segment_sum(g.values, at, tf.size(rows))
                    tf.raw_ops.ResourceSparseApplyMomentum(var=v.handle, accum=slot.handle, lr=0.01, grad=values, indices=rows, momentum=0.9)
                    continue
            tf.raw_ops.ResourceApplyMomentum(var=v.handle, accum=slot.handle, lr=0.01, grad=g, momentum=0.9)


net = Net()


def dense(x, name, units):
    inside = x.shape[-1]
    return tf.nn.bias_add(tf.matmul(x, net.get(name + "/w", (inside, units), math.sqrt(2 / inside))), net.get(name + "/b", (units,)))


def convolve(x, name, filters, size, stride=1):
    w = net.get(name + "/w", (size, size, x.shape[3], filters), math.sqrt(2 / (size * size * x.shape[3])))
    return tf.nn.conv2d(x, w, stride, "SAME")


def batch_norm(x, name):
    c = (x.shape[3],)
    scale, offset = net.get(name + "/scale", c, fill=1.0), net.get(name + "/offset", c)
    mean = net.get(name + "/mean", c, trainable=False)
    variance = net.get(name + "/variance", c, fill=1.0, trainable=False)
    if not options.training:
        return tf.compat.v1.nn.fused_batch_norm(x, scale, offset, mean, variance, is_training=False)[0]
    y, m, v = tf.compat.v1.nn.fused_batch_norm(x, scale, offset, is_training=True)
    mean.assign_sub((mean - m) * 0.1)
    variance.assign_sub((variance - v) * 0.1)
    return y


def conv(x, name, filters, size):
    return tf.nn.relu(tf.nn.bias_add(convolve(x, name, filters, size), net.get(name + "/b", (filters,))))


def conv_bn(x, name, filters, size, stride=1):
    return batch_norm(convolve(x, name, filters, size, stride), name)


def depthwise_bn(x, name, stride):
    w = net.get(name + "/w", (3, 3, x.shape[3], 1), math.sqrt(2 / 9))
    return batch_norm(tf.nn.depthwise_conv2d(x, w, (1, stride, stride, 1), "SAME"), name)


def mlp(x):
    x = tf.nn.relu(dense(x, "hidden1", 512))
    return dense(tf.nn.relu(dense(x, "hidden2", 512)), "logits", 10)


def lenet(x):
    x = tf.nn.max_pool2d(conv(x, "conv1", 32, 5), 2, 2, "SAME")
    x = tf.nn.max_pool2d(conv(x, "conv2", 64, 5), 2, 2, "SAME")
    return dense(tf.nn.relu(dense(tf.reshape(x, (-1, 7 * 7 * 64)), "dense", 1024)), "logits", 10)


def vgg(x):
    for group, (convolutions, filters) in enumerate([(2, 64), (2, 128), (3, 256)]):
        for i in range(convolutions):
            x = conv(x, f"conv{group}_{i}", filters, 3)
        x = tf.nn.max_pool2d(x, 2, 2, "VALID")
    return dense(tf.nn.relu(dense(tf.reshape(x, (-1, 8 * 8 * 256)), "dense", 512)), "logits", 100)


def resnet20(x):
    x = tf.nn.relu(conv_bn(x, "conv", 16, 3))
    for stage, filters in enumerate([16, 32, 64]):
        for i in range(3):
            name, stride = f"stage{stage}_{i}", 2 if stage > 0 and i == 0 else 1
            shortcut = conv_bn(x, name + "/shortcut", filters, 1, stride) if stride > 1 else x
            x = tf.nn.relu(conv_bn(x, name + "/conv1", filters, 3, stride))
            x = tf.nn.relu(conv_bn(x, name + "/conv2", filters, 3) + shortcut)
    return dense(tf.reduce_mean(x, (1, 2)), "logits", 10)


def resnet50(x):
    x = tf.nn.max_pool2d(tf.nn.relu(conv_bn(x, "conv", 64, 7, 2)), 3, 2, "SAME")
    for stage, blocks in enumerate([3, 4, 6, 3]):
        filters = 64 << stage
        for i in range(blocks):
            name, stride = f"stage{stage}_{i}", 2 if stage > 0 and i == 0 else 1
            shortcut = conv_bn(x, name + "/shortcut", 4 * filters, 1, stride) if x.shape[3] != 4 * filters else x
            x = tf.nn.relu(conv_bn(x, name + "/conv1", filters, 1))
            x = tf.nn.relu(conv_bn(x, name + "/conv2", filters, 3, stride))
            x = tf.nn.relu(conv_bn(x, name + "/conv3", 4 * filters, 1) + shortcut)
    return dense(tf.reduce_mean(x, (1, 2)), "logits", 1000)


def mobilenet(x):
    x = tf.nn.relu6(conv_bn(x, "conv", 32, 3, 2))
    for i, (filters, stride) in enumerate([(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2)] + [(512, 1)] * 5
                                          + [(1024, 2), (1024, 1)]):
        x = tf.nn.relu6(depthwise_bn(x, f"depthwise{i}", stride))
        x = tf.nn.relu6(conv_bn(x, f"pointwise{i}", filters, 1))
    return dense(tf.reduce_mean(x, (1, 2)), "logits", 1000)


def lstm(ids):
    steps = tf.unstack(tf.gather(net.get("embedding", (10000, 200), 1.0), ids))  # time, batch, width
    for layer in range(2):
        w, b = net.get(f"lstm{layer}/w", (400, 800), 0.05), net.get(f"lstm{layer}/b", (800,))
        c = h = tf.zeros((20, 200))
        for t in range(20):
            i, j, f, o = tf.split(tf.nn.bias_add(tf.matmul(tf.concat([steps[t], h], 1), w), b), 4, 1)
            c = tf.sigmoid(f + 1.0) * c + tf.sigmoid(i) * tf.tanh(j)
            h = tf.sigmoid(o) * tf.tanh(c)
            steps[t] = h
    return dense(tf.concat(steps, 0), "softmax", 10000)


def layer_norm(x, name):
    mean, variance = tf.nn.moments(x, -1, keepdims=True)
    return tf.nn.batch_normalization(x, mean, variance, net.get(name + "/offset", x.shape[-1:]), net.get(name + "/scale", x.shape[-1:], fill=1.0), 1e-5)


def transformer(x):
    rows = lambda t: tf.reshape(t, (1024, -1))
    heads = lambda t: tf.transpose(tf.reshape(t, (8, 128, 4, 64)), (0, 2, 1, 3))
    x = rows(x)
    for i in range(2):
        q, k, v = tf.split(dense(layer_norm(x, f"norm{i}_1"), f"qkv{i}", 768), 3, -1)
        weights = tf.nn.softmax(tf.matmul(heads(q) * 0.125, heads(k), transpose_b=True))
        attended = tf.transpose(tf.matmul(weights, heads(v)), (0, 2, 1, 3))
        x += dense(rows(attended), f"out{i}", 256)
        x += dense(tf.nn.gelu(dense(layer_norm(x, f"norm{i}_2"), f"up{i}", 1024)), f"down{i}", 256)
    return dense(layer_norm(x, "norm"), "logits", 100)


def embed(ids):
    rows = tf.gather(net.get("table", (100000, 64), 1.0), ids)
    return dense(tf.reduce_mean(rows, 1), "dense", 10)


def normal(*shape):
    return lambda: tf.constant(random.standard_normal(shape, dtype=np.float32))


def below(limit, *shape):
    return lambda: tf.constant(random.integers(limit, size=shape, dtype=np.int64))


# The model, what it is fed, the number of classes and of predictions.
MODELS = {
    "mlp": (mlp, normal(128, 784), 10, 128),
    "lenet": (lenet, normal(64, 28, 28, 1), 10, 64),
    "resnet20": (resnet20, normal(128, 32, 32, 3), 10, 128),
    "resnet50": (resnet50, normal(8, 224, 224, 3), 1000, 8),
    "vgg": (vgg, normal(32, 64, 64, 3), 100, 32),
    "mobilenet": (mobilenet, normal(8, 224, 224, 3), 1000, 8),
    "lstm": (lstm, below(10000, 20, 20), 10000, 400),
    "transformer": (transformer, normal(8, 128, 256), 100, 1024),
    "embed": (embed, below(100000, 64, 20), 10, 64),
}


def model_step():
    model, inputs, classes, predictions = MODELS[options.workload]
    x, y = inputs(), below(classes, predictions)()
    if not options.training:
        forward = tf.function(model, jit_compile=XLA)

        def infer():
            forward(x)
        return infer

    @tf.function(jit_compile=XLA)
    def train(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=model(x)))
        gradients = tape.gradient(loss, net.trainable)
        if options.workload != "embed":
            net.momentum_step(gradients)
        else:  # plain gradient descent; only the rows that were looked up move
            for v, g in zip(net.trainable, gradients):
                if isinstance(g, tf.IndexedSlices):
                    v.scatter_sub(tf.IndexedSlices(g.values * 0.01, g.indices))
                else:
                    v.assign_sub(g * 0.01)
        return loss
    return lambda: float(train(x, y))


def tiny_step():
    x0 = normal(4)()

    def chain(x):
        w = net.get("w", (4,), 1.0)
        for _ in range(500):
            x = tf.tanh(x * w)
        return x
    if not options.training:
        forward = tf.function(chain, jit_compile=XLA)

        def infer():
            forward(x0)
        return infer

    @tf.function(jit_compile=XLA)
    def train(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(chain(x))
        net.momentum_step(tape.gradient(loss, net.trainable))
        return loss
    return lambda: float(train(x0))


def eager_step():
    x0, w = normal(4)(), net.get("w", (4,), 1.0)
    constant = tf.constant(w)

    def chain(y):
        x = x0
        for _ in range(10000):
            x = x + y
        return x

    def infer():
        chain(constant)

    def train():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(chain(w))
        net.momentum_step(tape.gradient(loss, [w]))
        return float(loss)
    return train if options.training else infer


step = {"tiny": tiny_step, "eager": eager_step}.get(options.workload, model_step)()
step()  # makes the variables
measure(options, "tf", step, sum(math.prod(v.shape) for v in net.trainable))
