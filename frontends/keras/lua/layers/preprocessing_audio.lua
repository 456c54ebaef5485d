-- Layers that make spectrograms of sound {batch, samples, channels} or {batch, samples}.
local tf, T = ...
local raw = tf.raw
local S = T.include("keras", "engine/state")
local layer = T.keras_layer

local initializers = T.include("keras", "initializers")

-- Convolutions with windowed waves as kernels, which can be trained.
layer("STFTSpectrogram", "mode=log frame_length=256 frame_step? fft_length? window=hann periodic=false scaling=density padding=valid expand_dims=false data_format?", {
  ndim = 3, axes_text = "(batch, samples, channels)",
  init = function(self, path)
    T.keras_positive(self, path, "frame_length")
    T.keras_choice(self, path, "mode", {"log", "magnitude", "psd", "real", "imag", "angle", "stft"})
    T.keras_choice(self, path, "padding", {"valid", "same"})
    if self.scaling then T.keras_choice(self, path, "scaling", {"density", "spectrum"}) end
    T.keras_format(self, path)
    local step, length = self.frame_step or self.frame_length // 2, self.fft_length
    if not length then
      length = 1
      while length < self.frame_length do length = length * 2 end
    end
    if step < 1 or step > self.frame_length then T.fail(path, "'frame_step' must lie within 1 and frame_length (%d), not %s", self.frame_length, tostring(step)) end
    if length < self.frame_length then T.fail(path, "'fft_length' (%d) must not be less than 'frame_length' (%d)", length, self.frame_length) end
    rawset(self, "_step", step)
    rawset(self, "_bins", length // 2 + 1)
    T.keras_window(path, self.window, self.frame_length, self.periodic)
  end,
  build = function(self)
    local n, bins = self.frame_length, self._bins
    local function kernel(name, side)
      rawset(self, name, self:add_weight {name = name, shape = {n, 1, bins},
        initializer = initializers.classes.STFT.new {side = side, window = self.window, scaling = self.scaling, periodic = self.periodic}})
    end
    if self.mode ~= "imag" then kernel("real_kernel", "real") end
    if self.mode ~= "real" then kernel("imag_kernel", "imag") end
  end,
  call = function(self, x)
    local last = self.data_format == "channels_last"
    if not last then x = tf.transpose(x, {0, 2, 1}) end
    local samples, channels, bins = x.shape[2], x.shape[3], self._bins
    if samples < 0 or channels < 0 then T.fail(self.name, "samples and channels must be known; the input's shape is %s", S.say_shape(x.shape)) end
    local flat = tf.reshape(tf.transpose(x, {0, 2, 1}), {-1, 1, samples, 1})
    -- {batch, channels, frames, bins}
    local function waves(kernel)
      if S.stand_ins then kernel = tf.zeros({self.frame_length, 1, bins}, x.dtype) end
      local y = raw.Conv2D(flat, tf.expand_dims(tf.cast(kernel, x.dtype), 0), {strides = {1, 1, self._step, 1}, padding = self.padding:upper()})
      return tf.reshape(y, {-1, channels, y.shape[3], bins})
    end
    local real = self.mode ~= "imag" and waves(self.real_kernel)
    local imag = self.mode ~= "real" and waves(self.imag_kernel)
    local y
    if self.mode == "real" then y = real elseif self.mode == "imag" then y = imag
    elseif self.mode == "angle" then y = raw.Atan2(imag, real)
    elseif self.mode == "stft" then y = tf.concat({real, imag}, 3)
    else
      y = raw.Square(real) + raw.Square(imag)
      if self.mode == "psd" then -- all but the first and the last bin stand for two
        y = y + tf.pad(tf.slice(y, {0, 0, 0, 1}, {-1, -1, -1, bins - 2}), {{0, 0}, {0, 0}, {0, 0}, {1, 1}})
      else
        local least = T.value(1e-7, y.dtype)
        y = raw.Sqrt(raw.Maximum(y, least))
        if self.mode == "log" then y = raw.Log(raw.Maximum(y, least)) end
      end
    end
    local frames, wide = y.shape[3], y.shape[4]
    if self.expand_dims then return last and tf.transpose(y, {0, 2, 3, 1}) or y end
    if last then return tf.reshape(tf.transpose(y, {0, 2, 1, 3}), {-1, frames, channels * wide}) end
    return tf.reshape(tf.transpose(y, {0, 1, 3, 2}), {-1, channels * wide, frames})
  end})

-- The power of waves in bands that are equally wide to the ear: {batch, bands, frames}.
layer("MelSpectrogram", "fft_length=2048 sequence_stride=512 sequence_length? window=hann sampling_rate=16000 num_mel_bins=128 min_freq=20 max_freq? power_to_db=true top_db=80 mag_exp=2 min_power=1e-10 ref_power=1", {
  init = function(self, path)
    T.keras_positive(self, path, "fft_length", "sequence_stride", "num_mel_bins")
    if not self.sequence_length then rawset(self, "sequence_length", self.fft_length) end
    if not self.max_freq then rawset(self, "max_freq", self.sampling_rate // 2) end
    if self.fft_length < self.sequence_length then T.fail(path, "'fft_length' (%d) must not be less than 'sequence_length' (%d)", self.fft_length, self.sequence_length) end
    T.keras_window(path, self.window, self.sequence_length, true)
  end,
  call = function(self, x)
    local n, step, bins = self.fft_length, self.sequence_stride, self.fft_length // 2 + 1
    local single = #x.shape == 1
    if single then x = tf.expand_dims(x, 0) end
    if #x.shape ~= 2 then T.fail(self.name, "MelSpectrogram expects (samples) or (batch, samples); the input's shape is %s", S.say_shape(x.shape)) end
    local dtype = x.dtype
    local samples = x.shape[2]
    if samples < 0 then T.fail(self.name, "the number of samples must be known; the input's shape is %s", S.say_shape(x.shape)) end
    if samples <= n // 2 then T.fail(self.name, "there are %d samples; 'fft_length' (%d) needs more than %d", samples, n, n // 2) end
    if dtype == "float16" or dtype == "bfloat16" then x = tf.cast(x, "float32") end
    x = raw.MirrorPad(x, tf.constant({{0, 0}, {n // 2, n // 2}}, "int32"), {mode = "REFLECT"})
    -- waves in the window as the columns of a matrix: a convolution over the samples
    local window = T.keras_window(self.name, self.window, self.sequence_length, true)
    local left = (n - self.sequence_length) // 2
    local function waves(wave)
      local rows = {}
      for t = 0, n - 1 do
        local k = t - left + 1
        local w = k >= 1 and k <= self.sequence_length and (window and window[k] or 1) or 0
        local row = {}
        for f = 0, bins - 1 do row[f + 1] = wave(-2 * math.pi * ((t * f) % n) / n) * w end
        rows[t + 1] = {row}
      end
      local kernel = tf.expand_dims(tf.constant(rows, x.dtype), 0)
      local y = raw.Conv2D(tf.expand_dims(tf.expand_dims(x, 1), 3), kernel, {strides = {1, 1, step, 1}, padding = "VALID"})
      return raw.Squeeze(y, {squeeze_dims = {1}})
    end
    local power = raw.Square(waves(math.cos)) + raw.Square(waves(math.sin))
    if self.mag_exp ~= 2 then power = raw.Pow(raw.Sqrt(power), T.value(self.mag_exp, x.dtype)) end
    local function mel(f) return 1127 * math.log(1 + f / 700) end
    local low, high, matrix = mel(self.min_freq), mel(self.max_freq), {}
    local each = (high - low) / (self.num_mel_bins + 1)
    for f = 0, bins - 1 do
      local row, m = {}, mel(f * (self.sampling_rate / 2) / (bins - 1))
      for b = 1, self.num_mel_bins do
        local from = low + (b - 1) * each
        row[b] = f == 0 and 0.0 or math.max(0.0, math.min((m - from) / each, (from + 2 * each - m) / each))
      end
      matrix[f + 1] = row
    end
    local y = tf.einsum("btf,fm->bmt", power, tf.constant(matrix, x.dtype))
    if self.power_to_db then
      local function db(v) return 10 / math.log(10) * math.log(math.max(v, self.min_power)) end
      y = raw.Log(raw.Maximum(y, T.value(self.min_power, x.dtype))) * (10 / math.log(10)) - db(math.abs(self.ref_power))
      y = raw.Maximum(y, tf.reduce_max(y) - self.top_db)
    end
    if single then y = raw.Squeeze(y, {squeeze_dims = {0}}) end
    return y.dtype ~= dtype and tf.cast(y, dtype) or y
  end})
return true
