-- tf.torch: nn and optim for define-by-run, with Torch7's and PyTorch's names.
--
--     local nn, optim = tf.torch.nn, tf.torch.optim
--     local net = nn.Sequential():add(nn.Linear(2, 16)):add(nn.Tanh()):add(nn.Linear(16, 1))
local tf, T = ...
local torch = T.namespace "tf.torch"
T.include("torch", "module")
T.include("torch", "layers")
T.include("torch", "criterions")
T.include("torch", "initial")
T.include("torch", "train")
rawset(torch, "nn", T.namespace "tf.torch.nn")
rawset(torch, "optim", T.namespace "tf.torch.optim")
return torch
