// Where time and memory go: the monitor's curves, and the time line of a run that was traced.
import {Chart} from "./chart.js";
import {lineOf} from "./view_scalars.js";
import {Canvas, Scale, axes} from "./plot.js";
import {bytes, css, el, fill, get, hideTip, later, microseconds, number, showTip} from "./util.js";

const ROW = 18;
const hue = op => [...op].reduce((a, c) => (a * 33 + c.codePointAt(0)) % 360, 11);
const opOf = n => n.label.match(/ = ([\w]+)\(/)?.[1] ?? (n.name.split("/").at(-1).replace(/_\d+$/, "") || "op");

const view = {
  label: "Profile",
  available: app => app.index.runs.some(r => r.tags?.profiles || r.tags?.scalars?.some(t => t.startsWith("monitor/"))),
  mount(root, app) {
    Object.assign(this, {app, charts: new Map(), key: null, data: null, view: null, monitorKey: null});
    this.verdict = el("p", {});
    this.monitor = el("div", {class: "cards"});
    this.pick = el("select", {"aria-label": "profile", onchange: () => { this.chosen = this.pick.value; this.load(this.pick.value); }});
    this.by = el("select", {"aria-label": "table by", onchange: () => this.tables()}, ["op", "scope", "node"].map(v => el("option", {value: v}, v)));
    this.line = el("div", {class: "plot", style: "height:200px"});
    this.curve = el("div", {class: "plot", style: "height:130px"});
    this.table = el("table", {class: "data"});
    this.holders = el("div", {});
    this.facts = el("p", {class: "faint"});
    this.area = new Canvas(this.line, (c, w, h) => this.paint(c, w, h), "time line: one row for each thread; arrow keys move, + and - zoom");
    this.memory = new Canvas(this.curve, (c, w, h) => this.paintMemory(c, w, h), "memory that values hold, over time");
    for (const area of [this.area, this.memory]) {
      const canvas = area.canvas;
      canvas.addEventListener("pointerdown", e => { this.drag = e.clientX; canvas.setPointerCapture(e.pointerId); });
      canvas.addEventListener("pointerup", () => { this.drag = null; });
      canvas.addEventListener("pointerleave", () => { hideTip(); });
      canvas.addEventListener("dblclick", () => this.zoomAll());
      canvas.addEventListener("wheel", e => {
        if (!e.shiftKey && !e.ctrlKey) return;
        e.preventDefault();
        this.zoom((e.deltaY || e.deltaX) > 0 ? 1.25 : 0.8, e.clientX - canvas.getBoundingClientRect().left);
      }, {passive: false});
      canvas.addEventListener("keydown", e => {
        const width = this.x ? this.x.to - this.x.from : 1;
        if (e.key === "ArrowLeft") this.pan(-width / 8); else if (e.key === "ArrowRight") this.pan(width / 8);
        else if (e.key === "+" || e.key === "=") this.zoom(0.7, width / 2); else if (e.key === "-") this.zoom(1.4, width / 2);
        else if (e.key === "0") this.zoomAll(); else return;
        e.preventDefault();
        e.stopPropagation();
      });
    }
    this.area.canvas.addEventListener("pointermove", e => this.move(e));
    this.memory.canvas.addEventListener("pointermove", e => this.moveMemory(e));
    this.traced = el("section", {}, el("div", {class: "tools"}, el("label", {}, "traced run", this.pick), el("button", {onclick: () => this.zoomAll()}, "all"), this.facts),
      el("article", {class: "card wide"}, el("div", {class: "head"}, el("h2", {}, "Time line")), this.line),
      el("p", {}), el("div", {class: "cards"},
        el("article", {class: "card wide"}, el("div", {class: "head"}, el("h2", {}, "Memory of values")), this.curve, this.holders),
        el("article", {class: "card wide"}, el("div", {class: "head"}, el("h2", {}, "Time by"), this.by), el("div", {class: "scroll"}, this.table))));
    root.append(this.verdict, this.monitor, el("p", {}), this.traced);
    this.loadMonitor = later(() => this.loadMonitorNow(), 60);
  },
  refresh() {
    const list = this.app.shown().flatMap(run => (this.app.run(run).tags?.profiles || []).map(tag => [run, tag]));
    const key = JSON.stringify(list);
    this.traced.hidden = !list.length;
    if (key !== this.key) {
      this.key = key;
      const old = this.pick.value;
      fill(this.pick, ...list.map(p => el("option", {value: JSON.stringify(p)}, `${p[0]}: ${p[1]}`)));
      const now = list.some(p => JSON.stringify(p) === this.chosen) ? this.chosen : list.length ? JSON.stringify(this.newest(list)) : "";
      if (now) { this.pick.value = now; if (now !== old || !this.data) this.load(now); }
    }
    this.loadMonitor();
  },
  // Of the run that comes first, the last one: tags are numbered, and later ones have greater numbers.
  newest(list) {
    const mine = list.filter(p => p[0] === list[0][0]);
    return mine.sort((a, b) => a[1].localeCompare(b[1], undefined, {numeric: true})).at(-1);
  },
  async loadMonitorNow() {
    const tags = [...this.app.tags("scalars")].filter(([t]) => /^monitor\/(?!op_share\/|held_bytes\/)/.test(t)); // those stand below, in full
    const key = JSON.stringify([tags, this.app.shown().map(r => this.app.run(r).generation)]);
    if (key === this.monitorKey) return;
    this.monitorKey = key;
    for (const [tag, runs] of tags) {
      if (!this.charts.has(tag)) {
        const plot = el("div", {class: "plot", style: "height:150px"});
        this.monitor.append(el("article", {class: "card", "data-tag": tag}, el("div", {class: "head"}, el("h2", {}, tag.slice(8))), plot));
        this.charts.set(tag, new Chart(plot, {label: tag, columns: ["value", "step"], xFormat: "relative"}));
      }
      const got = await get("scalars", {tag, run: runs, points: Math.max(60, Math.floor(8000 / runs.length)), x: "relative"}).catch(() => null);
      if (!got || !this.charts.has(tag)) continue;
      if (tag.endsWith("ratio")) this.charts.get(tag).change({yRange: [-0.03, 1.03]});
      this.charts.get(tag).set(got.runs.map(r => lineOf(r.run, r, "relative", "value")));
      if (tag === "monitor/input_stall_ratio") this.judge(got.runs);
    }
  },
  judge(runs) {
    const words = runs.map(r => [r.run, number(r.value.at(-1))]).filter(([, v]) => v > 0.2).map(([run, v]) => `${run} is input-bound: ${Math.round(v * 100)} % of the time waits for data`);
    this.verdict.textContent = words.join("; ");
  },
  async load(value) {
    const [run, tag] = JSON.parse(value);
    this.facts.textContent = "reading …";
    let got;
    try { got = await get("profile", {run, tag}); } catch (e) { fill(this.facts, el("span", {class: "error"}, e.message)); return; }
    let graph = null;
    try { graph = await get("graph", {run}); } catch { /* lifetimes are not known then */ }
    this.arrange(got, graph);
  },
  // Nodes that run at once on one thread stand on rows of their own.
  arrange(got, graph) {
    const rows = [], all = [];
    for (const d of got.devices) {
      const threads = new Map();
      for (const n of d.nodes) threads.has(n.thread) ? threads.get(n.thread).push(n) : threads.set(n.thread, [n]);
      for (const [thread, nodes] of [...threads].sort((a, b) => a[0] - b[0])) {
        nodes.sort((a, b) => a.begin - b.begin);
        const ends = [], first = rows.length;
        for (const n of nodes) {
          let at = ends.findIndex(e => e <= n.begin + 1e-6);
          if (at < 0) { at = ends.length; ends.push(0); rows.push({title: null}); }
          ends[at] = n.begin + n.took;
          all.push(Object.assign(n, {row: first + at, op: opOf(n), device: d.device}));
        }
        rows[first].title = `${d.device.replace(/^\/job:\w+\/replica:\d+\/task:\d+/, "")} ${d.threads[thread] ?? `thread ${thread}`}`;
      }
    }
    const end = Math.max(...all.map(n => n.begin + n.took), 1);
    this.data = {rows, all, end, step: got.step};
    this.line.style.height = `${Math.min(420, 46 + rows.length * ROW)}px`;
    this.facts.textContent = `step ${got.step}: ${all.length} ops in ${microseconds(end)}, ${microseconds(all.reduce((a, n) => a + n.took, 0))} of work`;
    this.holdersOver(graph);
    this.zoomAll();
    this.tables();
  },
  // A value lives from its op to the last op that reads it; those that the graph does not know, to the end.
  holdersOver(graph) {
    const {all, end} = this.data, last = new Map(), known = new Set(graph?.nodes.map(n => n.name)), done = new Map(all.map(n => [n.name, n.begin + n.took]));
    for (const n of graph?.nodes || []) for (const i of n.inputs) {
      const from = i.replace(/^\^/, "").split(":")[0], at = done.get(n.name);
      if (at !== undefined) last.set(from, Math.max(last.get(from) ?? 0, at));
    }
    const values = all.map(n => ({name: n.name, size: n.outputs.reduce((a, o) => a + o.bytes, 0) || n.memory, from: n.begin, to: Math.max(n.begin + 1e-3, known.has(n.name) ? last.get(n.name) ?? n.begin + n.took : end)})).filter(v => v.size > 0);
    const changes = values.flatMap(v => [[v.from, v.size], [v.to, -v.size]]).sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    let now = 0, most = 0, at = 0;
    const curve = [[0, 0]];
    // Times are told in microseconds: what comes and goes within one is one change.
    for (let i = 0; i < changes.length;) {
      const [t] = changes[i];
      curve.push([t, now]);
      for (; i < changes.length && changes[i][0] - t < 1; i++) now += changes[i][1];
      curve.push([t, now]);
      if (now > most) { most = now; at = changes[i - 1][0]; }
    }
    curve.push([end, now]);
    Object.assign(this.data, {values, curve, most, at});
    this.showHolders(at);
  },
  showHolders(at) {
    const live = this.data.values.filter(v => v.from <= at && v.to > at).sort((a, b) => b.size - a.size);
    fill(this.holders, el("p", {class: "faint"}, `${at === this.data.at ? "at its peak" : "at"} ${microseconds(at)}: ${bytes(live.reduce((a, v) => a + v.size, 0))}, held by`),
      el("div", {class: "legend"}, live.slice(0, 12).map(v => el("span", {}, el("strong", {}, bytes(v.size)), v.name)), live.length > 12 ? el("span", {}, `and ${live.length - 12} more`) : null));
  },
  tables() {
    const groups = new Map(), by = this.by.value;
    for (const n of this.data?.all || []) {
      const key = by === "op" ? n.op : by === "scope" ? n.name.includes("/") ? n.name.slice(0, n.name.lastIndexOf("/")) : "(no scope)" : n.name;
      const g = groups.get(key) || {took: 0, calls: 0, memory: 0};
      groups.set(key, {took: g.took + n.took, calls: g.calls + 1, memory: g.memory + (n.outputs.reduce((a, o) => a + o.bytes, 0) || n.memory)});
    }
    const total = [...groups.values()].reduce((a, g) => a + g.took, 0) || 1;
    fill(this.table, el("thead", {}, el("tr", {}, el("th", {}, by), ["time", "share", "calls", "memory"].map(t => el("th", {class: "n"}, t)), el("th", {}))),
      el("tbody", {}, [...groups].sort((a, b) => b[1].took - a[1].took).slice(0, 100).map(([k, g]) => el("tr", {}, el("td", {}, k), el("td", {class: "n"}, microseconds(g.took)),
        el("td", {class: "n"}, `${(100 * g.took / total).toFixed(1)} %`), el("td", {class: "n"}, g.calls), el("td", {class: "n"}, bytes(g.memory)), el("td", {}, el("span", {class: "bar", style: `width:${(160 * g.took / total).toFixed(1)}px`}))))));
  },
  zoomAll() { if (this.data) this.setView([0, this.data.end]); },
  setView(v) {
    const span = Math.min(Math.max(v[1] - v[0], this.data.end / 1e5), this.data.end), from = Math.max(0, Math.min(v[0], this.data.end - span));
    this.view = [from, from + span];
    this.area.ask();
    this.memory.ask();
  },
  zoom(factor, pixel) {
    if (!this.x) return;
    const at = this.x.value(pixel);
    this.setView([at + (this.view[0] - at) * factor, at + (this.view[1] - at) * factor]);
  },
  pan(pixels) {
    if (!this.x) return;
    const d = pixels / (this.x.to - this.x.from) * (this.view[1] - this.view[0]);
    this.setView([this.view[0] + d, this.view[1] + d]);
  },
  paint(c, width, height) {
    if (!this.data) return;
    const x = this.x = new Scale(this.view[0], this.view[1], 8, width - 8), {rows, all} = this.data, dark = document.documentElement.dataset.theme === "dark";
    c.fillStyle = css("--faint");
    c.strokeStyle = css("--grid");
    c.textBaseline = "top";
    c.textAlign = "center";
    c.beginPath();
    for (const v of x.ticks(width / 110)) {
      c.moveTo(x.at(v), 0);
      c.lineTo(x.at(v), height - 18);
      c.fillText(microseconds(v), Math.max(x.at(v), 8 + c.measureText(microseconds(v)).width / 2), height - 14);
    }
    c.stroke();
    this.tops = [];
    let top = 2;
    c.textAlign = "left";
    for (const r of rows) {
      if (r.title) { c.fillStyle = css("--faint"); c.fillText(r.title, 8, top); top += 14; }
      this.tops.push(top);
      top += ROW;
    }
    c.textBaseline = "middle";
    for (const n of all) {
      const a = Math.max(x.at(n.begin), 8), b = Math.min(x.at(n.begin + n.took), width - 8);
      if (b < 8 || a > width - 8) continue;
      const w = Math.max(b - a, 0.8), y = this.tops[n.row];
      c.fillStyle = `hsl(${hue(n.op)} 58% ${dark ? 46 : 66}%)`;
      c.fillRect(a, y, w, ROW - 4);
      if (n === this.near) { c.strokeStyle = css("--text"); c.strokeRect(a, y, w, ROW - 4); }
      if (w > 34) {
        c.save();
        c.beginPath();
        c.rect(a, y, w - 3, ROW);
        c.clip();
        c.fillStyle = dark ? "#fff" : "#10151f";
        c.fillText(n.op, a + 4, y + (ROW - 4) / 2);
        c.restore();
      }
    }
  },
  move(e) {
    if (this.drag !== null && this.drag !== undefined) { this.pan(this.drag - e.clientX); this.drag = e.clientX; return hideTip(); }
    if (!this.x) return;
    const box = this.area.canvas.getBoundingClientRect(), px = e.clientX - box.left, py = e.clientY - box.top;
    let near = null;
    for (const n of this.data.all) if (py >= this.tops[n.row] && py < this.tops[n.row] + ROW && px >= this.x.at(n.begin) - 1.5 && px <= this.x.at(n.begin + n.took) + 1.5) near = n;
    if (near !== this.near) { this.near = near; this.area.ask(); }
    if (!near) return hideTip();
    showTip(e.clientX, e.clientY, el("strong", {}, near.name), el("table", {}, [["op", near.op], ["begins", microseconds(near.begin)], ["takes", microseconds(near.took)], ["memory", bytes(near.outputs.reduce((a, o) => a + o.bytes, 0) || near.memory)],
      ...near.outputs.map((o, i) => [`output ${i}`, `${o.type} ${o.shape.join("×") || "scalar"}`])].map(([k, v]) => el("tr", {}, el("th", {class: "l"}, k), el("td", {class: "l"}, v)))));
  },
  paintMemory(c, width, height) {
    if (!this.data) return;
    const x = new Scale(this.view[0], this.view[1], 60, width - 8), y = new Scale(0, this.data.most * 1.08 || 1, height - 20, 6);
    c.fillStyle = css("--faint");
    c.textAlign = "right";
    c.textBaseline = "middle";
    for (const v of y.ticks(3)) c.fillText(bytes(v), 55, y.at(v));
    axes(c, x, new Scale(y.low, y.high, y.from, y.to), () => "");
    c.clearRect(0, 0, 59, height);
    c.fillStyle = css("--faint");
    c.textAlign = "right";
    for (const v of y.ticks(3)) c.fillText(bytes(v), 55, y.at(v));
    c.save();
    c.beginPath();
    c.rect(60, 0, width - 68, height);
    c.clip();
    c.beginPath();
    c.moveTo(x.at(0), y.at(0));
    for (const [t, v] of this.data.curve) c.lineTo(x.at(t), y.at(v));
    c.lineTo(x.at(this.data.end), y.at(0));
    c.fillStyle = css("--accent");
    c.globalAlpha = 0.25;
    c.fill();
    c.globalAlpha = 1;
    c.strokeStyle = css("--accent");
    c.lineWidth = 1.4;
    c.stroke();
    c.restore();
    this.xMemory = x;
  },
  moveMemory(e) {
    if (this.drag !== null && this.drag !== undefined) { this.pan(this.drag - e.clientX); this.drag = e.clientX; return; }
    if (!this.xMemory) return;
    const t = this.xMemory.value(e.clientX - this.memory.canvas.getBoundingClientRect().left);
    this.showHolders(Math.max(0, Math.min(this.data.end, t)));
  },
  redraw() {
    this.area.ask();
    this.memory.ask();
    for (const c of this.charts.values()) c.area.ask();
  },
  unmount() {
    for (const c of this.charts.values()) c.stop();
    this.area.stop();
    this.memory.stop();
  },
};
export default view;
