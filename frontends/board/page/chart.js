// A chart of lines that can be zoomed, read with the pointer, and read with the arrow keys.
import {Canvas, Scale, axes, formats} from "./plot.js";
import {css, el, hideTip, showTip, short} from "./util.js";

// lines: [{name, colour, x: [], y: [], faint: [] or undefined, rows(i): cells of the hint}]
export class Chart {
  constructor(box, {label, columns = ["value"], onzoom = () => {}, xFormat = "number"} = {}) {
    Object.assign(this, {box, columns, onzoom, xFormat, lines: [], logX: false, logY: false, outliers: false, view: null, cursor: null, yRange: null});
    this.area = new Canvas(box, (c, w, h) => this.paint(c, w, h), label);
    const canvas = this.area.canvas;
    canvas.addEventListener("pointermove", e => this.move(e));
    canvas.addEventListener("pointerleave", () => { if (!this.drag) this.point(null); });
    canvas.addEventListener("pointerdown", e => this.press(e));
    canvas.addEventListener("pointerup", e => this.release(e));
    canvas.addEventListener("pointercancel", () => { this.drag = null; this.area.ask(); });
    canvas.addEventListener("dblclick", () => this.zoom(null));
    canvas.addEventListener("wheel", e => this.wheel(e), {passive: false});
    canvas.addEventListener("keydown", e => this.key(e));
    canvas.addEventListener("blur", () => this.point(null));
  }
  set(lines) {
    this.lines = lines;
    this.bounds = null;
    this.area.ask();
    if (this.cursor !== null && this.pointer) this.hint();
  }
  change(options) {
    Object.assign(this, options);
    this.bounds = null;
    this.area.ask();
  }
  stop() { this.area.stop(); }

  // Ends of all values; with outliers left out, of the middle nine tenths and a little more.
  ends() {
    if (this.bounds) return this.bounds;
    let [x0, x1, y0, y1] = [Infinity, -Infinity, Infinity, -Infinity];
    const all = [];
    for (const line of this.lines) {
      for (let i = 0; i < line.x.length; i++) {
        const x = line.x[i];
        if (!Number.isFinite(x) || (this.logX && x <= 0)) continue;
        if (x < x0) x0 = x;
        if (x > x1) x1 = x;
        if (this.view && (x < this.view[0] || x > this.view[1])) continue;
        for (const y of line.faint ? [line.y[i], line.faint[i]] : [line.y[i]]) {
          if (!Number.isFinite(y) || (this.logY && y <= 0)) continue;
          if (this.outliers) all.push(y);
          if (y < y0) y0 = y;
          if (y > y1) y1 = y;
        }
      }
    }
    if (all.length > 20) {
      all.sort((a, b) => a - b);
      const low = all[Math.floor(all.length * 0.05)], high = all[Math.floor(all.length * 0.95)], room = (high - low) * 0.3;
      if (high > low) [y0, y1] = [Math.max(y0, low - (this.logY ? 0 : room)), Math.min(y1, high + room)];
    }
    if (x0 > x1) [x0, x1] = [0, 1];
    if (y0 > y1) [y0, y1] = [0, 1];
    if (this.yRange) [y0, y1] = this.yRange;
    else if (this.logY && y0 > 0) { const k = (y1 / y0) ** 0.04 || 1.1; y0 /= k; y1 *= k; }
    else { const pad = (y1 - y0) * 0.05; y0 -= pad; y1 += pad; }
    return this.bounds = {x: this.view || [x0, x1], y: [y0, y1]};
  }

  // Only the reading line moves with the pointer: a hundred curves are drawn once, and copied then.
  paint(c, width, height) {
    const {canvas} = this.area, key = [this.lines, this.ends(), width, height, canvas.width, this.xFormat, document.documentElement.dataset.theme];
    if (!this.still || key.some((v, i) => v !== this.still.key[i])) {
      this.paintStill(c, width, height);
      const copy = this.still?.copy ?? document.createElement("canvas");
      [copy.width, copy.height] = [canvas.width, canvas.height];
      copy.getContext("2d").drawImage(canvas, 0, 0);
      this.still = {key, copy};
    } else c.drawImage(this.still.copy, 0, 0, width, height);
    const {x, y} = this;
    c.save();
    c.beginPath();
    c.rect(x.from, y.to - 2, x.to - x.from, y.from - y.to + 4);
    c.clip();
    if (this.drag && Math.abs(this.drag.to - this.drag.from) > 3) {
      c.fillStyle = css("--accent");
      c.globalAlpha = 0.16;
      c.fillRect(this.drag.from, y.to, this.drag.to - this.drag.from, y.from - y.to);
      c.globalAlpha = 1;
    }
    if (this.cursor !== null) this.paintCursor(c);
    c.restore();
  }
  paintStill(c, width, height) {
    const {x: [x0, x1], y: [y0, y1]} = this.ends();
    const widest = Math.max(...new Scale(y0, y1, height - 22, 6, this.logY).ticks(5).map(v => c.measureText(short(v)).width), 12);
    const x = this.x = new Scale(x0, x1, Math.ceil(widest) + 10, width - 8, this.logX);
    const y = this.y = new Scale(y0, y1, height - 22, 6, this.logY);
    axes(c, x, y, formats[this.xFormat]);
    c.save();
    c.beginPath();
    c.rect(x.from, y.to - 2, x.to - x.from, y.from - y.to + 4);
    c.clip();
    c.lineJoin = "round";
    for (const line of this.lines) if (line.faint) this.stroke(c, line, line.faint, 0.28, 1);
    for (const line of this.lines) this.stroke(c, line, line.y, 1, this.lines.length > 30 ? 1.1 : 1.7);
    c.restore();
    if (!this.lines.some(l => l.x.length)) {
      c.fillStyle = css("--faint");
      c.textAlign = "center";
      c.fillText("no values of the selected runs", (x.from + x.to) / 2, height / 2 - 10);
    }
  }
  stroke(c, line, ys, alpha, width) {
    const {x, y} = this, n = line.x.length;
    c.strokeStyle = c.fillStyle = line.colour;
    c.globalAlpha = alpha;
    c.lineWidth = width;
    c.beginPath();
    let down = false, alone = [], lastX = 0, lastY = 0;
    for (let i = 0; i < n; i++) {
      const v = ys[i], u = line.x[i];
      if (!Number.isFinite(v) || (y.log && v <= 0) || (x.log && u <= 0)) { // a gap, and a mark where it is
        if (down === 1) alone.push([lastX, lastY]);
        down = false;
        if (alpha === 1 && !Number.isFinite(v)) this.mark(c, x.at(u), v, line.colour);
        continue;
      }
      lastX = x.at(u);
      lastY = y.at(v);
      if (down) c.lineTo(lastX, lastY); else c.moveTo(lastX, lastY);
      down = down ? 2 : 1;
    }
    if (down === 1) alone.push([lastX, lastY]);
    c.stroke();
    for (const [px, py] of alone) { c.beginPath(); c.arc(px, py, 2.6, 0, 7); c.fill(); }
    c.globalAlpha = 1;
  }
  // NaN and infinities: a small cross at the edge that they would leave by.
  mark(c, px, v, colour) {
    const py = v === Infinity ? this.y.to + 5 : this.y.from - 5;
    c.save();
    c.strokeStyle = colour;
    c.lineWidth = 1.5;
    c.stroke(new Path2D(`M${px - 3} ${py - 3}l6 6m0-6l-6 6`));
    c.restore();
  }
  // The point of each line nearest to the cursor.
  nearest(line) {
    let low = 0, high = line.x.length - 1;
    if (high < 0) return -1;
    if (!line.sorted) line.sorted = line.x.every((v, i) => i === 0 || v >= line.x[i - 1]) ? "yes" : "no";
    if (line.sorted === "no") {
      let best = 0;
      for (let i = 1; i <= high; i++) if (Math.abs(line.x[i] - this.cursor) < Math.abs(line.x[best] - this.cursor)) best = i;
      return best;
    }
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (line.x[middle] < this.cursor) low = middle; else high = middle;
    }
    return Math.abs(line.x[low] - this.cursor) <= Math.abs(line.x[high] - this.cursor) ? low : high;
  }
  paintCursor(c) {
    const px = this.x.at(this.cursor);
    c.strokeStyle = css("--faint");
    c.lineWidth = 1;
    c.beginPath();
    c.moveTo(px, this.y.from);
    c.lineTo(px, this.y.to);
    c.stroke();
    if (this.lines.length > 40) return;
    for (const line of this.lines) {
      const i = this.nearest(line);
      if (i < 0 || !Number.isFinite(line.y[i])) continue;
      c.fillStyle = line.colour;
      c.beginPath();
      c.arc(this.x.at(line.x[i]), this.y.at(line.y[i]), 3.2, 0, 7);
      c.fill();
    }
  }
  hint() {
    const found = [];
    for (const line of this.lines) {
      const i = this.nearest(line);
      if (i >= 0) found.push({line, i, far: Math.abs(this.y.at(line.y[i]) - this.pointer.y) || 0});
    }
    if (!found.length) return hideTip();
    const near = found.reduce((a, b) => b.far < a.far ? b : a);
    const shown = found.length > 14 ? found.sort((a, b) => a.far - b.far).slice(0, 14) : found;
    shown.sort((a, b) => (b.line.y[b.i] || 0) - (a.line.y[a.i] || 0));
    showTip(this.pointer.clientX, this.pointer.clientY, el("table", {},
      el("tr", {}, el("th", {class: "l"}, "run"), ...this.columns.map(t => el("th", {}, t))),
      ...shown.map(f => el("tr", {class: f === near ? "near" : null},
        el("td", {class: "l"}, el("span", {class: "swatch", style: {"--run": f.line.colour}}), " ", f.line.name),
        ...f.line.rows(f.i).map(t => el("td", {}, t)))),
      found.length > shown.length ? el("tr", {}, el("th", {class: "l", colspan: this.columns.length + 1}, `and ${found.length - shown.length} more`)) : null));
  }

  at(e) {
    const box = this.area.canvas.getBoundingClientRect();
    return {x: e.clientX - box.left, y: e.clientY - box.top, clientX: e.clientX, clientY: e.clientY};
  }
  point(p) {
    this.pointer = p;
    this.cursor = p && this.x ? this.x.value(Math.min(Math.max(p.x, this.x.from), this.x.to)) : null;
    this.area.ask();
    if (p && this.x) this.hint(); else hideTip();
  }
  move(e) {
    const p = this.at(e);
    if (this.drag) { this.drag.to = p.x; hideTip(); this.area.ask(); return; }
    this.point(p);
  }
  press(e) {
    if (e.button !== 0 || e.pointerType === "touch") return;
    const p = this.at(e);
    this.drag = {from: p.x, to: p.x};
    this.area.canvas.setPointerCapture(e.pointerId);
  }
  release() {
    const d = this.drag;
    this.drag = null;
    if (d && Math.abs(d.to - d.from) > 5) {
      const a = this.x.value(Math.max(this.x.from, Math.min(d.from, d.to))), b = this.x.value(Math.min(this.x.to, Math.max(d.from, d.to)));
      if (b > a) this.zoom([a, b]);
    } else this.area.ask();
  }
  zoom(view) {
    this.view = view;
    this.bounds = null;
    this.area.ask();
    this.onzoom(view);
  }
  scaleBy(factor, pixel) {
    const k = p => this.x.value(pixel + (p - pixel) * factor);
    this.zoom([k(this.x.from), k(this.x.to)]);
  }
  wheel(e) { // the page scrolls; with Shift or Control the chart zooms
    if (!e.shiftKey && !e.ctrlKey) return;
    e.preventDefault();
    this.scaleBy((e.deltaY || e.deltaX) > 0 ? 1.25 : 0.8, this.at(e).x);
  }
  key(e) {
    if (!this.x || e.ctrlKey || e.metaKey || e.altKey) return;
    const step = (this.x.to - this.x.from) / (e.shiftKey ? 10 : 60), box = this.area.canvas.getBoundingClientRect();
    const to = px => this.point({x: px, y: (this.y.from + this.y.to) / 2, clientX: box.left + px, clientY: box.top + 30});
    const middle = (this.x.from + this.x.to) / 2, now = this.cursor === null ? middle : this.x.at(this.cursor);
    if (e.key === "ArrowLeft") to(Math.max(this.x.from, now - step));
    else if (e.key === "ArrowRight") to(Math.min(this.x.to, now + step));
    else if (e.key === "+" || e.key === "=") this.scaleBy(0.7, now);
    else if (e.key === "-") this.scaleBy(1.4, now);
    else if (e.key === "0") this.zoom(null);
    else if (e.key === "Escape") this.point(null);
    else return;
    e.preventDefault();
    e.stopPropagation();
  }
}
