// Hyperparameters: a table, and parallel coordinates whose axes can be brushed.
import {Canvas, Scale, ticks} from "./plot.js";
import {colour, css, el, fill, get, hideTip, number, short, showTip} from "./util.js";

const hue = t => `hsl(${220 - 220 * t} 75% 50%)`;

const view = {
  label: "HParams", brushes: new Map(), sort: null,
  available: app => app.index.runs.some(r => r.tags?.hparams),
  mount(root, app) {
    Object.assign(this, {app, rows: [], columns: [], generation: null});
    this.pick = el("select", {"aria-label": "colour by", onchange: () => { this.by = this.pick.value; this.draw(); }});
    this.metricList = el("span", {class: "row"});
    this.plot = el("div", {class: "plot", style: "height:300px"});
    this.area = new Canvas(this.plot, (c, w, h) => this.paint(c, w, h), "parallel coordinates: one line for each run; drag on an axis to select");
    this.table = el("table", {class: "data"});
    const canvas = this.area.canvas;
    canvas.addEventListener("pointerdown", e => this.press(e));
    canvas.addEventListener("pointermove", e => this.move(e));
    canvas.addEventListener("pointerup", () => this.release());
    canvas.addEventListener("pointerleave", () => { hideTip(); if (this.near) { this.near = null; this.area.ask(); } });
    canvas.addEventListener("keydown", e => { if (e.key === "Escape") { this.brushes.clear(); this.draw(); } });
    root.append(el("div", {class: "tools"}, el("label", {}, "colour by", this.pick), el("label", {}, "metrics", this.metricList),
      el("button", {onclick: () => { this.brushes.clear(); this.draw(); }}, "clear selection")),
      el("article", {class: "card wide"}, this.plot), el("p", {}), el("article", {class: "card wide"}, el("div", {class: "scroll"}, this.table)));
  },
  async refresh(chosen) {
    if (!chosen && this.generation === this.app.index.generation) return;
    this.generation = this.app.index.generation;
    let got;
    try { got = await get("hparams"); } catch (e) { fill(this.table, el("caption", {class: "error"}, e.message)); return; }
    const shown = new Set(this.app.shown());
    this.rows = got.sessions.filter(s => shown.has(s.run));
    const names = [], add = n => names.includes(n) || names.push(n);
    for (const e of got.experiments) e.hparam_names.forEach(add);
    for (const r of this.rows) Object.keys(r.hparams).sort().forEach(add);
    const named = got.experiments.flatMap(e => e.metric_names.map(m => m.tag)), all = [...new Set(this.rows.flatMap(r => Object.keys(r.metrics)))].sort();
    const tags = named.filter(t => all.includes(t)).length ? [...new Set(named)] : all.filter(t => !t.startsWith("monitor/"));
    if (!this.metrics || tags.join() !== this.known) { this.known = tags.join(); this.metrics = new Set(tags.slice(0, 6)); }
    this.columns = [...names.map(n => ({key: `h:${n}`, name: n, of: r => r.hparams[n]})),
      ...tags.filter(t => this.metrics.has(t)).map(t => ({key: `m:${t}`, name: t, metric: true, of: r => r.metrics[t] === undefined ? undefined : number(r.metrics[t])}))];
    const by = this.by && this.columns.some(c => c.key === this.by) ? this.by : this.columns.findLast(c => c.metric)?.key ?? this.columns[0]?.key;
    this.by = by;
    fill(this.pick, ...this.columns.map(c => el("option", {value: c.key, selected: c.key === by}, c.name)));
    fill(this.metricList, ...tags.map(t => el("label", {}, el("input", {type: "checkbox", checked: this.metrics.has(t), onchange: e => {
      e.target.checked ? this.metrics.add(t) : this.metrics.delete(t);
      this.refresh(true);
    }}), el("span", {}, t))));
    this.draw();
  },
  draw() {
    this.area.ask();
    const rows = [...this.rows], s = this.sort;
    if (s) {
      const c = this.columns.find(x => x.key === s.key), of = c ? c.of : r => r.run;
      rows.sort((a, b) => {
        const [x, y] = [of(a), of(b)];
        if (x === undefined || y === undefined) return (x === undefined) - (y === undefined);
        return (typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y), undefined, {numeric: true})) * (s.down ? -1 : 1);
      });
    }
    const head = (key, name, n) => el("th", {class: n ? "n" : null, "aria-sort": s?.key === key ? (s.down ? "descending" : "ascending") : null},
      el("button", {onclick: () => { this.sort = {key, down: s?.key === key && !s.down}; this.draw(); }}, name, s?.key === key ? (s.down ? " ↓" : " ↑") : ""));
    const numeric = c => this.rows.some(r => typeof c.of(r) === "number");
    fill(this.table, el("thead", {}, el("tr", {}, head("run", "run"), this.columns.map(c => head(c.key, c.name, numeric(c))), el("th", {}, "status"))),
      el("tbody", {}, rows.map(r => el("tr", {class: this.passes(r) ? null : "faded", "data-run": r.run}, el("td", {}, el("span", {class: "swatch", style: {"--run": colour(r.run)}}), " ", r.run),
        this.columns.map(c => el("td", {class: numeric(c) ? "n" : null}, short(c.of(r)))), el("td", {}, r.status || "")))));
  },
  redraw() { this.area.ask(); },
  passes(r) {
    for (const [key, [a, b]] of this.brushes) {
      const axis = this.axes?.find(x => x.key === key);
      if (!axis) continue;
      const at = axis.at(axis.of(r));
      if (!(at >= a && at <= b)) return false;
    }
    return true;
  },
  // An axis: numbers on a scale (logarithmic where they span a hundredfold), words at equal distances.
  makeAxes(width, height) {
    const n = this.columns.length;
    return this.columns.map((c, i) => {
      const x = n > 1 ? 46 + i * (width - 110) / (n - 1) : width / 2, values = this.rows.map(c.of).filter(v => v !== undefined && v !== null);
      const numbers = values.filter(v => typeof v === "number" && Number.isFinite(v));
      if (numbers.length && numbers.length === values.filter(v => !(typeof v === "number" && Number.isNaN(v))).length) {
        const low = Math.min(...numbers), high = Math.max(...numbers), log = low > 0 && high / low >= 100 && !c.metric;
        const scale = new Scale(low, high, height - 18, 34, log);
        return {...c, x, at: v => typeof v === "number" && Number.isFinite(v) ? scale.at(v) : NaN, marks: (log ? scale.ticks(5) : ticks(scale.low, scale.high, 5)).map(v => [short(v), scale.at(v)]), share: v => (scale.at(v) - scale.from) / (scale.to - scale.from)};
      }
      const words = [...new Set(values.map(short))].sort(), at = v => words.length > 1 ? height - 18 - words.indexOf(short(v)) * (height - 52) / (words.length - 1) : height / 2;
      return {...c, x, at: v => words.includes(short(v)) ? at(v) : NaN, marks: words.map(w => [w, at(w)]), share: v => words.length > 1 ? words.indexOf(short(v)) / (words.length - 1) : 0};
    });
  },
  paint(c, width, height) {
    this.axes = this.makeAxes(width, height);
    const by = this.axes.find(a => a.key === this.by);
    for (const r of [...this.rows].sort((a, b) => this.passes(a) - this.passes(b))) {
      const good = this.passes(r), v = by?.of(r);
      c.strokeStyle = good ? (by && v !== undefined ? hue(Math.min(1, Math.max(0, by.share(v) || 0))) : css("--accent")) : css("--line");
      c.globalAlpha = good ? (this.rows.length > 60 ? 0.6 : 0.9) : 0.6;
      c.lineWidth = r === this.near ? 4 : 1.6;
      c.beginPath();
      let down = false;
      for (const a of this.axes) {
        const y = a.at(a.of(r));
        if (!Number.isFinite(y)) { down = false; continue; }
        down ? c.lineTo(a.x, y) : c.moveTo(a.x, y);
        down = true;
      }
      c.stroke();
    }
    c.globalAlpha = 1;
    for (const [i, a] of this.axes.entries()) {
      c.strokeStyle = css("--faint");
      c.lineWidth = 1;
      c.beginPath();
      c.moveTo(a.x, 34);
      c.lineTo(a.x, height - 18);
      c.stroke();
      c.fillStyle = css("--text");
      c.textAlign = i === 0 ? "left" : i === this.axes.length - 1 ? "right" : "center";
      c.textBaseline = "top";
      c.font = `${a.metric ? "italic " : ""}12px system-ui, 'DejaVu Sans', sans-serif`;
      const room = (width - 80) / Math.max(1, this.axes.length) - 8;
      let name = a.name;
      while (name.length > 4 && c.measureText(name).width > room) name = name.slice(0, -2) + "…";
      c.fillText(name, i === 0 ? Math.max(0, a.x - 40) : i === this.axes.length - 1 ? Math.min(width, a.x + 50) : a.x, 6);
      c.font = "11px system-ui, 'DejaVu Sans', sans-serif";
      c.fillStyle = css("--faint");
      c.textAlign = "left";
      c.textBaseline = "middle";
      c.strokeStyle = css("--card");
      c.lineWidth = 3;
      for (const [text, y] of a.marks) { c.strokeText(text, a.x + 5, y); c.fillText(text, a.x + 5, y); }
      const brush = this.brushes.get(a.key);
      if (brush) {
        c.fillStyle = css("--accent");
        c.globalAlpha = 0.3;
        c.fillRect(a.x - 7, brush[0], 14, brush[1] - brush[0]);
        c.globalAlpha = 1;
      }
    }
  },
  press(e) {
    const box = this.area.canvas.getBoundingClientRect(), x = e.clientX - box.left, y = e.clientY - box.top;
    const axis = this.axes?.find(a => Math.abs(a.x - x) < 14);
    if (!axis) return;
    this.drag = {key: axis.key, from: y};
    this.brushes.delete(axis.key);
    this.area.canvas.setPointerCapture(e.pointerId);
  },
  move(e) {
    const box = this.area.canvas.getBoundingClientRect(), x = e.clientX - box.left, y = e.clientY - box.top;
    if (this.drag) {
      this.brushes.set(this.drag.key, [Math.min(this.drag.from, y), Math.max(this.drag.from, y)]);
      this.area.ask();
      return;
    }
    this.near = null;
    let best = 9;
    for (const r of this.rows) for (let i = 0; i + 1 < (this.axes || []).length; i++) {
      const a = this.axes[i], b = this.axes[i + 1];
      if (x < a.x || x > b.x) continue;
      const ya = a.at(a.of(r)), yb = b.at(b.of(r)), d = Math.abs(ya + (yb - ya) * (x - a.x) / (b.x - a.x) - y);
      if (d < best) { best = d; this.near = r; }
    }
    this.area.ask();
    if (this.near) showTip(e.clientX, e.clientY, el("strong", {}, this.near.run), el("table", {}, this.columns.map(c => el("tr", {}, el("th", {class: "l"}, c.name), el("td", {}, short(c.of(this.near)))))));
    else hideTip();
  },
  release() {
    if (!this.drag) return;
    const b = this.brushes.get(this.drag.key);
    if (b && b[1] - b[0] < 4) this.brushes.delete(this.drag.key);
    this.drag = null;
    this.draw();
  },
  unmount() { this.area.stop(); },
};
export default view;
