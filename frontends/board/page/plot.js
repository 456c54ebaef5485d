// Scales, ticks and a canvas for plots.
import {css, short} from "./util.js";

// Round values between two ends, about so many.
export function ticks(low, high, count) {
  const span = high - low;
  if (!(span > 0) || !Number.isFinite(span)) return [low];
  const raw = span / Math.max(1, count), power = 10 ** Math.floor(Math.log10(raw)), part = raw / power;
  const step = power * (part < 1.5 ? 1 : part < 3.5 ? 2 : part < 7.5 ? 5 : 10);
  const out = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k++) out.push(Number((k * step).toPrecision(12)));
  return out;
}
function logTicks(low, high, count) {
  const from = Math.floor(Math.log10(low)), to = Math.ceil(Math.log10(high)), out = [];
  const every = Math.max(1, Math.ceil((to - from) / count)), fine = to - from <= 2 ? [1, 2, 5] : [1];
  for (let p = from; p <= to; p += every) for (const m of fine) if (m * 10 ** p >= low && m * 10 ** p <= high) out.push(m * 10 ** p);
  return out.length > 1 ? out : ticks(low, high, count);
}

// A map of values onto pixels, linear or logarithmic.
export class Scale {
  constructor(low, high, from, to, log = false) {
    this.log = log && low > 0 && high > 0;
    if (!(high > low)) {
      const pad = Math.abs(low) * 0.05 || 1;
      [low, high] = this.log ? [low / 1.2, low * 1.2] : [low - pad, low + pad];
    }
    Object.assign(this, {low, high, from, to});
    this.a = this.log ? Math.log(low) : low;
    this.b = this.log ? Math.log(high) : high;
  }
  at(v) { return this.from + ((this.log ? Math.log(v) : v) - this.a) / (this.b - this.a) * (this.to - this.from); }
  value(pixel) {
    const x = this.a + (pixel - this.from) / (this.to - this.from) * (this.b - this.a);
    return this.log ? Math.exp(x) : x;
  }
  ticks(count) { return this.log ? logTicks(this.low, this.high, count) : ticks(this.low, this.high, count); }
}

// A canvas that fills its box, in the screen's own pixels; draw(context, width, height).
export class Canvas {
  constructor(box, draw, label) {
    this.canvas = document.createElement("canvas");
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "img");
    if (label) this.canvas.setAttribute("aria-label", label);
    box.append(this.canvas);
    this.box = box;
    this.draw = draw;
    this.observer = new ResizeObserver(() => this.ask());
    this.observer.observe(box);
  }
  // Once for all that changes until the next frame.
  ask() {
    if (!this.frame) this.frame = requestAnimationFrame(() => { this.frame = 0; this.now(); });
  }
  now() {
    const width = this.box.clientWidth, height = this.box.clientHeight, scale = devicePixelRatio || 1;
    if (!width || !height) return;
    const w = Math.round(width * scale), h = Math.round(height * scale);
    if (this.canvas.width !== w || this.canvas.height !== h) [this.canvas.width, this.canvas.height] = [w, h];
    const c = this.canvas.getContext("2d");
    c.setTransform(scale, 0, 0, scale, 0, 0);
    c.clearRect(0, 0, width, height);
    c.font = "11px system-ui, 'DejaVu Sans', sans-serif";
    this.draw(c, width, height);
  }
  stop() { this.observer.disconnect(); }
}

export const formats = {
  number: short,
  relative: s => Math.abs(s) < 120 ? `${Number(s.toFixed(2))}s` : Math.abs(s) < 7200 ? `${Number((s / 60).toFixed(1))}m` : `${Number((s / 3600).toFixed(2))}h`,
  wall: (w, span) => new Date(w * 1000).toLocaleString(undefined, span > 86400 ? {month: "short", day: "numeric", hour: "2-digit"} : {hour: "2-digit", minute: "2-digit", second: span < 600 ? "2-digit" : undefined}),
};

// Grid and labels around the inner rectangle.
export function axes(c, x, y, format = short) {
  const width = x.to - x.from;
  c.strokeStyle = css("--grid");
  c.fillStyle = css("--faint");
  c.lineWidth = 1;
  c.beginPath();
  c.textAlign = "right";
  c.textBaseline = "middle";
  for (const v of y.ticks(Math.max(2, Math.floor((y.from - y.to) / 38)))) {
    const at = Math.round(y.at(v)) + 0.5;
    c.moveTo(x.from, at);
    c.lineTo(x.to, at);
    c.fillText(short(v), x.from - 5, at);
  }
  c.textAlign = "center";
  c.textBaseline = "top";
  let last = -1e9;
  for (const v of x.ticks(Math.max(2, Math.floor(width / 75)))) {
    const at = Math.round(x.at(v)) + 0.5, text = format(v, x.high - x.low), half = c.measureText(text).width / 2;
    c.moveTo(at, y.from);
    c.lineTo(at, y.to);
    if (at - half < last + 6) continue;
    c.fillText(text, Math.min(Math.max(at, x.from - 30 + half), x.to + 6 - half), y.from + 5);
    last = at + half;
  }
  c.stroke();
}
