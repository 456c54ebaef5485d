// Histograms: one behind another, laid over each other, or as bands of percentiles.
import {cardsView, cardFor} from "./cards.js";
import {Canvas, Scale, axes} from "./plot.js";
import {choice, colour, css, el, get, hideTip, number, short, showTip} from "./util.js";

const BINS = 60;

// All steps in equal bins over the whole range: counts of a bucket go where it overlaps.
function rebin(steps) {
  let low = Infinity, high = -Infinity;
  for (const s of steps) if (s.left.length) { low = Math.min(low, s.left[0]); high = Math.max(high, s.right.at(-1)); }
  if (!(high > low)) { const c = Number.isFinite(low) ? low : 0; low = c - 0.5; high = c + 0.5; }
  const width = (high - low) / BINS;
  return {low, high, rows: steps.map(s => {
    const bins = new Float64Array(BINS);
    for (let i = 0; i < s.left.length; i++) {
      const a = s.left[i], b = s.right[i], n = s.count[i];
      if (!(n > 0)) continue;
      const first = Math.max(0, Math.min(BINS - 1, Math.floor((a - low) / width))), last = Math.max(first, Math.min(BINS - 1, Math.floor((b - low) / width)));
      if (first === last || !(b > a)) { bins[first] += n; continue; }
      for (let k = first; k <= last; k++) bins[k] += n * Math.max(0, Math.min(b, low + (k + 1) * width) - Math.max(a, low + k * width)) / (b - a);
    }
    return bins;
  })};
}

class Card {
  constructor(app, run, tag, options) {
    Object.assign(this, {run, tag, options, steps: []});
    this.plot = el("div", {class: "plot"});
    this.root = cardFor(run, tag, this.plot);
    this.area = new Canvas(this.plot, (c, w, h) => this.paint(c, w, h), `${tag} of ${run}: histograms over the steps`);
    this.area.canvas.addEventListener("pointermove", e => this.move(e));
    this.area.canvas.addEventListener("pointerleave", () => { this.at = null; hideTip(); this.area.ask(); });
    this.area.canvas.addEventListener("keydown", e => {
      const d = {ArrowUp: -1, ArrowLeft: -1, ArrowDown: 1, ArrowRight: 1}[e.key];
      if (!d || !this.steps.length) return;
      e.preventDefault();
      this.at = Math.max(0, Math.min(this.steps.length - 1, (this.at ?? this.steps.length - 1) + d));
      const box = this.area.canvas.getBoundingClientRect();
      this.area.ask();
      this.hint(box.left + box.width / 2, box.top + 20);
    });
    this.area.canvas.addEventListener("blur", hideTip);
  }
  async load() {
    const got = await get("histograms", {run: this.run, tag: this.tag, steps: 50});
    this.steps = got.steps.map(s => ({...s, left: s.left.map(number), right: s.right.map(number), count: s.count.map(number), percentiles: s.percentiles.map(number)}));
    this.bins = rebin(this.steps);
    this.area.ask();
  }
  change() { this.area.ask(); }
  redraw() { this.area.ask(); }
  stop() { this.area.stop(); }
  paint(c, width, height) {
    if (!this.steps.length) return;
    ({offset: this.paintOffset, overlay: this.paintOverlay, percentiles: this.paintBands})[this.options.mode].call(this, c, width, height);
  }
  outline(c, x, row, base, tall, most) {
    const step = (x.to - x.from) / BINS;
    c.beginPath();
    c.moveTo(x.from, base);
    for (let k = 0; k < BINS; k++) c.lineTo(x.from + (k + 0.5) * step, base - row[k] / most * tall);
    c.lineTo(x.to, base);
  }
  paintOffset(c, width, height) {
    const {low, high, rows} = this.bins, n = rows.length, most = Math.max(...rows.map(r => Math.max(...r)), 1e-30);
    const x = new Scale(low, high, 12, width - 56), top = 44, bottom = height - 24, gap = n > 1 ? (bottom - top) / (n - 1) : 0, tall = Math.min(top + 12, 60);
    c.textBaseline = "middle";
    c.lineWidth = 1;
    this.lines = [];
    const fill = colour(this.run), card = css("--card");
    for (let i = 0; i < n; i++) {
      const base = n > 1 ? top + i * gap : bottom;
      this.lines.push(base);
      this.outline(c, x, rows[i], base, n > 1 ? tall : height - 60, most);
      c.globalAlpha = 0.35 + 0.55 * (n > 1 ? i / (n - 1) : 1);
      c.fillStyle = fill;
      c.fill();
      c.globalAlpha = 1;
      c.strokeStyle = i === this.at ? css("--text") : card;
      c.stroke();
      if (n < 2 || i === 0 || i === n - 1 || (i % Math.ceil(n / 6) === 0 && n - i > n / 8)) {
        c.fillStyle = css("--faint");
        c.textAlign = "left";
        c.fillText(this.steps[i].step, width - 50, base);
      }
    }
    this.bottomAxis(c, x, height);
  }
  bottomAxis(c, x, height) {
    c.fillStyle = css("--faint");
    c.textAlign = "center";
    c.textBaseline = "top";
    for (const v of x.ticks(5)) c.fillText(short(v), x.at(v), height - 16);
  }
  paintOverlay(c, width, height) {
    const {low, high, rows} = this.bins, n = rows.length, most = Math.max(...rows.map(r => Math.max(...r)), 1e-30);
    const x = new Scale(low, high, 44, width - 8), y = new Scale(0, most, height - 22, 8);
    axes(c, x, y);
    this.lines = null;
    c.lineWidth = 1.2;
    for (let i = 0; i < n; i++) {
      this.outline(c, x, rows[i], y.from, y.from - y.to, most);
      c.globalAlpha = i === this.at ? 1 : 0.12 + 0.7 * (n > 1 ? (i / (n - 1)) ** 2 : 1);
      c.strokeStyle = i === this.at ? css("--text") : colour(this.run);
      c.stroke();
    }
    c.globalAlpha = 1;
  }
  paintBands(c, width, height) {
    const s = this.steps, low = Math.min(...s.map(v => v.percentiles[0])), high = Math.max(...s.map(v => v.percentiles[8]));
    const x = new Scale(s[0].step, s.at(-1).step, 44, width - 8), y = new Scale(low, high, height - 22, 8);
    axes(c, x, y);
    this.lines = null;
    c.fillStyle = c.strokeStyle = colour(this.run);
    for (const [a, b, alpha] of [[0, 8, 0.13], [1, 7, 0.2], [2, 6, 0.3], [3, 5, 0.45]]) {
      c.globalAlpha = alpha;
      c.beginPath();
      s.forEach((v, i) => i ? c.lineTo(x.at(v.step), y.at(v.percentiles[a])) : c.moveTo(x.at(v.step), y.at(v.percentiles[a])));
      for (let i = s.length - 1; i >= 0; i--) c.lineTo(x.at(s[i].step), y.at(s[i].percentiles[b]));
      c.fill();
    }
    c.globalAlpha = 1;
    c.lineWidth = 1.6;
    c.beginPath();
    s.forEach((v, i) => i ? c.lineTo(x.at(v.step), y.at(v.percentiles[4])) : c.moveTo(x.at(v.step), y.at(v.percentiles[4])));
    c.stroke();
    this.xSteps = x;
  }
  move(e) {
    if (!this.steps.length) return;
    const box = this.area.canvas.getBoundingClientRect(), py = e.clientY - box.top, n = this.steps.length;
    if (this.options.mode === "percentiles" && this.xSteps) {
      const v = this.xSteps.value(e.clientX - box.left);
      this.at = this.steps.reduce((best, s, i) => Math.abs(s.step - v) < Math.abs(this.steps[best].step - v) ? i : best, 0);
    } else if (this.lines) this.at = this.lines.reduce((best, y, i) => Math.abs(y - py) < Math.abs(this.lines[best] - py) ? i : best, 0);
    else this.at = Math.max(0, Math.min(n - 1, Math.round((1 - py / box.height) * (n - 1))));
    this.area.ask();
    this.hint(e.clientX, e.clientY);
  }
  hint(x, y) {
    const s = this.steps[this.at], p = s.percentiles;
    showTip(x, y, el("table", {}, [["step", s.step], ["values", short(s.count.reduce((a, b) => a + b, 0))], ["least", short(p[0])], ["16 %", short(p[2])],
      ["median", short(p[4])], ["84 %", short(p[6])], ["greatest", short(p[8])]].map(([k, v]) => el("tr", {}, el("th", {class: "l"}, k), el("td", {}, v)))));
  }
}

export default cardsView({label: "Histograms", kind: "histograms", options: {mode: "offset"}, make: (...a) => new Card(...a),
  tools: (options, changed) => [choice({offset: "one behind another", overlay: "overlaid", percentiles: "distribution"}, options.mode, v => { options.mode = v; changed(); }, "how histograms are shown")]});
