"""The workloads in JAX: one jitted step that takes over its old state's buffers."""
import functools
import math

import jax
import numpy as np
from jax import lax, numpy as jnp

from measure import arguments, measure

options = arguments(["jit"])
random = np.random.default_rng(1)


class Store:
    """Parameters and moving statistics by name: made when the model is traced for the first time, looked up later."""

    def __init__(self, parameters=None, state=None):
        self.making = parameters is None
        self.parameters, self.state = parameters or {}, dict(state or {})

    def get(self, name, shape, scale=None, fill=0.0):
        if self.making:
            value = random.standard_normal(shape, dtype=np.float32) * np.float32(scale) if scale else np.full(shape, fill, np.float32)
            self.parameters[name] = value
        return jnp.asarray(self.parameters[name])

    def moving(self, name, shape, fill):
        if self.making:
            self.state[name] = np.full(shape, fill, np.float32)
        return jnp.asarray(self.state[name])


def dense(s, x, name, units):
    inside = x.shape[-1]
    return x @ s.get(name + "/w", (inside, units), math.sqrt(2 / inside)) + s.get(name + "/b", (units,))


def convolve(s, x, name, filters, size, stride=1, groups=1):
    inside = x.shape[3] // groups
    w = s.get(name + "/w", (size, size, inside, filters), math.sqrt(2 / (size * size * inside)))
    return lax.conv_general_dilated(x, w, (stride, stride), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"),
                                    feature_group_count=groups)


def batch_norm(s, x, name):
    c = x.shape[3:]
    scale, offset = s.get(name + "/scale", c, fill=1.0), s.get(name + "/offset", c)
    moving_mean, moving_variance = s.moving(name + "/mean", c, 0.0), s.moving(name + "/variance", c, 1.0)
    if options.training:
        mean = jnp.mean(x, (0, 1, 2))
        variance = jnp.mean(jnp.square(x), (0, 1, 2)) - jnp.square(mean)
        s.state[name + "/mean"] = moving_mean + 0.1 * (mean - moving_mean)
        s.state[name + "/variance"] = moving_variance + 0.1 * (variance - moving_variance)
    else:
        mean, variance = moving_mean, moving_variance
    factor = lax.rsqrt(variance + 1e-3) * scale
    return x * factor + (offset - mean * factor)


def conv(s, x, name, filters, size):
    return jax.nn.relu(convolve(s, x, name, filters, size) + s.get(name + "/b", (filters,)))


def conv_bn(s, x, name, filters, size, stride=1, groups=1):
    return batch_norm(s, convolve(s, x, name, filters, size, stride, groups), name)


def max_pool(x, size, stride, padding):
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, size, size, 1), (1, stride, stride, 1), padding)


def mlp(s, x):
    x = jax.nn.relu(dense(s, x, "hidden1", 512))
    return dense(s, jax.nn.relu(dense(s, x, "hidden2", 512)), "logits", 10)


def lenet(s, x):
    x = max_pool(conv(s, x, "conv1", 32, 5), 2, 2, "SAME")
    x = max_pool(conv(s, x, "conv2", 64, 5), 2, 2, "SAME")
    return dense(s, jax.nn.relu(dense(s, x.reshape(x.shape[0], -1), "dense", 1024)), "logits", 10)


def vgg(s, x):
    for group, (convolutions, filters) in enumerate([(2, 64), (2, 128), (3, 256)]):
        for i in range(convolutions):
            x = conv(s, x, f"conv{group}_{i}", filters, 3)
        x = max_pool(x, 2, 2, "VALID")
    return dense(s, jax.nn.relu(dense(s, x.reshape(x.shape[0], -1), "dense", 512)), "logits", 100)


def resnet20(s, x):
    x = jax.nn.relu(conv_bn(s, x, "conv", 16, 3))
    for stage, filters in enumerate([16, 32, 64]):
        for i in range(3):
            name, stride = f"stage{stage}_{i}", 2 if stage > 0 and i == 0 else 1
            shortcut = conv_bn(s, x, name + "/shortcut", filters, 1, stride) if stride > 1 else x
            x = jax.nn.relu(conv_bn(s, x, name + "/conv1", filters, 3, stride))
            x = jax.nn.relu(conv_bn(s, x, name + "/conv2", filters, 3) + shortcut)
    return dense(s, jnp.mean(x, (1, 2)), "logits", 10)


def resnet50(s, x):
    x = max_pool(jax.nn.relu(conv_bn(s, x, "conv", 64, 7, 2)), 3, 2, "SAME")
    for stage, blocks in enumerate([3, 4, 6, 3]):
        filters = 64 << stage
        for i in range(blocks):
            name, stride = f"stage{stage}_{i}", 2 if stage > 0 and i == 0 else 1
            shortcut = conv_bn(s, x, name + "/shortcut", 4 * filters, 1, stride) if x.shape[3] != 4 * filters else x
            x = jax.nn.relu(conv_bn(s, x, name + "/conv1", filters, 1))
            x = jax.nn.relu(conv_bn(s, x, name + "/conv2", filters, 3, stride))
            x = jax.nn.relu(conv_bn(s, x, name + "/conv3", 4 * filters, 1) + shortcut)
    return dense(s, jnp.mean(x, (1, 2)), "logits", 1000)


def mobilenet(s, x):
    x = jax.nn.relu6(conv_bn(s, x, "conv", 32, 3, 2))
    for i, (filters, stride) in enumerate([(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2)] + [(512, 1)] * 5
                                          + [(1024, 2), (1024, 1)]):
        x = jax.nn.relu6(conv_bn(s, x, f"depthwise{i}", x.shape[3], 3, stride, x.shape[3]))
        x = jax.nn.relu6(conv_bn(s, x, f"pointwise{i}", filters, 1))
    return dense(s, jnp.mean(x, (1, 2)), "logits", 1000)


def lstm(s, ids):
    x = s.get("embedding", (10000, 200), 1.0)[ids]  # time, batch, width
    for layer in range(2):
        w, b = s.get(f"lstm{layer}/w", (400, 800), 0.05), s.get(f"lstm{layer}/b", (800,))

        def cell(carry, inputs):
            c, h = carry
            i, j, f, o = jnp.split(jnp.concatenate([inputs, h], 1) @ w + b, 4, 1)
            c = jax.nn.sigmoid(f + 1) * c + jax.nn.sigmoid(i) * jnp.tanh(j)
            h = jax.nn.sigmoid(o) * jnp.tanh(c)
            return (c, h), h
        zeros = jnp.zeros((x.shape[1], 200))
        x = lax.scan(cell, (zeros, zeros), x, unroll=20)[1]
    return dense(s, x.reshape(-1, 200), "softmax", 10000)


def layer_norm(s, x, name):
    mean = jnp.mean(x, -1, keepdims=True)
    variance = jnp.mean(jnp.square(x - mean), -1, keepdims=True)
    return (x - mean) * lax.rsqrt(variance + 1e-5) * s.get(name + "/scale", x.shape[-1:], fill=1.0) + s.get(name + "/offset", x.shape[-1:])


def transformer(s, x):
    batch, tokens, width = x.shape
    for i in range(2):
        q, k, v = jnp.split(dense(s, layer_norm(s, x, f"norm{i}_1"), f"qkv{i}", 3 * width), 3, -1)
        q, k, v = (t.reshape(batch, tokens, 4, width // 4) for t in (q, k, v))
        x = x + dense(s, jax.nn.dot_product_attention(q, k, v).reshape(x.shape), f"out{i}", width)
        inner = jax.nn.gelu(dense(s, layer_norm(s, x, f"norm{i}_2"), f"up{i}", 1024), approximate=False)
        x = x + dense(s, inner, f"down{i}", width)
    return dense(s, layer_norm(s, x, "norm"), "logits", 100).reshape(-1, 100)


def normal(*shape):
    return lambda: jnp.asarray(random.standard_normal(shape, dtype=np.float32))


def below(limit, *shape):
    return lambda: jnp.asarray(random.integers(limit, size=shape, dtype=np.int32))


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
}


def cross_entropy(logits, labels):
    rows = jnp.arange(labels.shape[0])
    return jnp.mean(jax.nn.logsumexp(logits, -1) - logits[rows, labels])


def count(tree):
    return sum(math.prod(a.shape) for a in jax.tree.leaves(tree))


def momentum(parameters, slots, gradients):
    slots = jax.tree.map(lambda m, g: 0.9 * m + g, slots, gradients)
    return jax.tree.map(lambda p, m: p - 0.01 * m, parameters, slots), slots


def stepper(jitted, state, *inputs):
    """A step that keeps the state between calls."""
    def step():
        nonlocal state
        state, loss = jitted(state, *inputs)
        jax.block_until_ready(state)
        return float(loss)
    return step


def model_steps():
    model, inputs, classes, predictions = MODELS[options.workload]
    x, y = inputs(), below(classes, predictions)()
    made = Store()
    jax.eval_shape(lambda x: model(made, x), x)
    parameters = jax.tree.map(jnp.asarray, made.parameters)
    state = jax.tree.map(jnp.asarray, {k: np.asarray(v) for k, v in initial_state(made).items()})
    if not options.training:
        forward = jax.jit(lambda parameters, state, x: model(Store(parameters, state), x))
        return lambda: jax.block_until_ready(forward(parameters, state, x)) is None or None, count(parameters)

    def loss_of(parameters, state, x, y):
        store = Store(parameters, state)
        return cross_entropy(model(store, x), y), store.state

    @functools.partial(jax.jit, donate_argnums=0)
    def train(everything, x, y):
        parameters, slots, state = everything
        (loss, state), gradients = jax.value_and_grad(loss_of, has_aux=True)(parameters, state, x, y)
        return momentum(parameters, slots, gradients) + (state,), loss
    slots = jax.tree.map(jnp.zeros_like, parameters)
    return stepper(train, (parameters, slots, state), x, y), count(parameters)


def initial_state(made):
    """The moving statistics as they begin: the trace that made them has left its own values."""
    return {name: np.full(value.shape, 1.0 if name.endswith("/variance") else 0.0, np.float32) for name, value in made.state.items()}


def embed_steps():
    ids, y = below(100000, 64, 20)(), below(10, 64)()
    parameters = {"table": normal(100000, 64)(), "w": normal(64, 10)() * 0.1, "b": jnp.zeros(10)}

    def logits_of(rows, w, b):
        return jnp.mean(rows, 1) @ w + b
    if not options.training:
        forward = jax.jit(lambda p, ids: logits_of(p["table"][ids], p["w"], p["b"]))
        return lambda: jax.block_until_ready(forward(parameters, ids)) is None or None, count(parameters)

    @functools.partial(jax.jit, donate_argnums=0)
    def train(p, ids, y):  # only the rows that were looked up get a gradient
        def loss_of(rows, w, b):
            return cross_entropy(logits_of(rows, w, b), y)
        loss, (rows, w, b) = jax.value_and_grad(loss_of, (0, 1, 2))(p["table"][ids], p["w"], p["b"])
        return {"table": p["table"].at[ids].add(-0.01 * rows), "w": p["w"] - 0.01 * w, "b": p["b"] - 0.01 * b}, loss
    return stepper(train, parameters, ids, y), count(parameters)


def tiny_steps():
    x0, w = normal(4)(), normal(4)()

    def chain(w, x):
        return lax.scan(lambda x, _: (jnp.tanh(x * w), None), x, None, length=500)[0]
    if not options.training:
        forward = jax.jit(chain)
        return lambda: jax.block_until_ready(forward(w, x0)) is None or None, 4

    @functools.partial(jax.jit, donate_argnums=0)
    def train(state, x):
        loss, gradient = jax.value_and_grad(lambda w, x: jnp.sum(chain(w, x)))(state[0], x)
        return momentum(*state, gradient), loss
    return stepper(train, (w, jnp.zeros_like(w)), x0), 4


def eager_steps():
    x0, w = normal(4)(), normal(4)()

    def chain(w):
        x = x0
        for _ in range(10000):
            x = x + w
        return x
    if not options.training:
        return lambda: jax.block_until_ready(chain(w)) is None or None, 4

    def train(state):
        loss, gradient = jax.value_and_grad(lambda w: jnp.sum(chain(w)))(state[0])
        return momentum(*state, gradient), loss
    return stepper(train, (w, jnp.zeros_like(w))), 4


step, n = {"embed": embed_steps, "tiny": tiny_steps, "eager": eager_steps}.get(options.workload, model_steps)()
measure(options, "jax", step, n)
