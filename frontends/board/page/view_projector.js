// Embeddings along their axes of greatest variance, in two or three dimensions.
import {Canvas} from "./plot.js";
import {choice, css, el, fill, get, hideTip, regex, showTip} from "./util.js";

const palette = ["#2f7ed8", "#e0682f", "#2ca25f", "#a55ec9", "#d8356b", "#17a6b0", "#b98a15", "#6b7fd7", "#7a9a2e", "#c7618f"];

const view = {
  label: "Projector", list: [], mode: "3d",
  available(app) { // asked for once in a while: a config may come later than its run
    if (app.index.generation !== this.asked && app.index.loaded) {
      this.asked = app.index.generation;
      get("projector").then(got => {
        const more = got.embeddings.length && !this.list.length;
        this.list = got.embeddings;
        if (more) app.changed();
      }).catch(() => {});
    }
    return this.list.length > 0;
  },
  mount(root, app) {
    Object.assign(this, {app, turn: [0.5, 0.35], zoom: 1, shift: [0, 0], near: -1, data: null});
    this.pick = el("select", {"aria-label": "embedding", onchange: () => this.load()}, this.list.map((e, i) => el("option", {value: i}, `${e.name} (${e.run})`)));
    this.colourBy = el("select", {"aria-label": "colour by", onchange: () => this.area.ask()});
    this.labels = el("input", {type: "checkbox", onchange: () => this.area.ask()});
    this.search = el("input", {type: "search", placeholder: "find (regex)", "aria-label": "find points", oninput: () => this.area.ask()});
    this.plot = el("div", {class: "plot", style: "height:calc(100vh - 190px);min-height:320px;touch-action:none"});
    this.status = el("p", {class: "faint"});
    this.area = new Canvas(this.plot, (c, w, h) => this.paint(c, w, h), "embedding: points; arrow keys turn, + and - zoom");
    const canvas = this.area.canvas;
    canvas.addEventListener("pointerdown", e => { this.drag = [e.clientX, e.clientY]; canvas.setPointerCapture(e.pointerId); });
    canvas.addEventListener("pointerup", () => { this.drag = null; });
    canvas.addEventListener("pointermove", e => this.move(e));
    canvas.addEventListener("pointerleave", hideTip);
    canvas.addEventListener("wheel", e => { e.preventDefault(); this.zoom *= e.deltaY > 0 ? 0.9 : 1.1; this.area.ask(); }, {passive: false});
    canvas.addEventListener("keydown", e => {
      const d = {ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, -0.1], ArrowDown: [0, 0.1]}[e.key];
      if (d) this.turnBy(d[0], d[1]);
      else if (e.key === "+" || e.key === "=") this.zoom *= 1.15;
      else if (e.key === "-") this.zoom /= 1.15;
      else if (e.key === "0") Object.assign(this, {zoom: 1, shift: [0, 0], turn: [0.5, 0.35]});
      else return;
      e.preventDefault();
      e.stopPropagation();
      this.area.ask();
    });
    root.append(el("div", {class: "tools"}, el("label", {}, "embedding", this.pick), choice({"2d": "2D", "3d": "3D"}, this.mode, v => { this.mode = v; this.area.ask(); }, "dimensions"),
      el("label", {}, "colour by", this.colourBy), el("label", {}, this.labels, el("span", {}, "labels")), el("span", {class: "field"}, this.search)),
      el("article", {class: "card wide"}, this.plot, this.status));
    this.load();
  },
  async load() {
    const e = this.list[Number(this.pick.value) || 0];
    this.status.textContent = "reading …";
    try {
      this.data = await get("projector/points", {run: e.run, name: e.name});
    } catch (why) {
      this.data = null;
      fill(this.status, el("span", {class: "error"}, why.message));
      return this.area.ask();
    }
    const d = this.data, columns = d.metadata_columns || [];
    fill(this.colourBy, el("option", {value: -1}, "nothing"), ...columns.map((c, i) => el("option", {value: i, selected: i === columns.length - 1}, c)));
    this.size = Math.max(1e-30, ...d.points.map(p => Math.hypot(...p)));
    this.status.textContent = `${d.points.length < d.rows ? `${d.points.length} of ` : ""}${d.rows} points with ${d.columns} values; the three axes hold ${d.variance.map(v => `${(v * 100).toFixed(1)} %`).join(", ")} of the variance`;
    this.area.ask();
  },
  refresh() {},
  redraw() { this.area.ask(); },
  labelOf(i) { return (this.data.metadata?.[i] || []).join("  ") || `row ${i}`; },
  place(p, width, height) {
    const [a, b] = this.mode === "3d" ? this.turn : [0, 0], scale = Math.min(width, height) * 0.46 * this.zoom / this.size;
    const x = p[0] * Math.cos(a) + p[2] * Math.sin(a), z = p[2] * Math.cos(a) - p[0] * Math.sin(a), y = p[1] * Math.cos(b) - z * Math.sin(b);
    return [width / 2 + this.shift[0] + x * scale, height / 2 + this.shift[1] - y * scale, this.mode === "3d" ? (z * Math.cos(b) + p[1] * Math.sin(b)) / this.size : 0];
  },
  paint(c, width, height) {
    const d = this.data;
    if (!d) return;
    const by = Number(this.colourBy.value), values = by >= 0 ? [...new Set(d.metadata.map(m => m[by]))] : [], many = values.length > palette.length;
    const numbers = many && values.every(v => v !== "" && Number.isFinite(Number(v))) ? [Math.min(...values), Math.max(...values)] : null;
    const at = new Map(values.map((v, i) => [v, i])), re = this.search.value ? regex(this.search.value) : null;
    if (this.mode === "3d") for (const [axis, name] of [[[1, 0, 0], "1"], [[0, 1, 0], "2"], [[0, 0, 1], "3"]]) {
      const from = this.place([0, 0, 0], width, height), to = this.place(axis.map(v => v * this.size), width, height);
      c.strokeStyle = css("--line");
      c.beginPath();
      c.moveTo(from[0], from[1]);
      c.lineTo(to[0], to[1]);
      c.stroke();
      c.fillStyle = css("--faint");
      c.fillText(name, to[0] + 3, to[1]);
    }
    this.spots = d.points.map((p, i) => [...this.place(p, width, height), i]).sort((p, q) => p[2] - q[2]);
    const r = d.points.length > 2000 ? 2 : d.points.length > 300 ? 3 : 4.5;
    for (const [x, y, z, i] of this.spots) {
      const v = by >= 0 ? d.metadata[i]?.[by] : null, hit = re && re.test(this.labelOf(i));
      c.fillStyle = by < 0 ? css("--accent") : numbers ? `hsl(${220 - 220 * (Number(v) - numbers[0]) / (numbers[1] - numbers[0] || 1)} 70% 50%)` : palette[(at.get(v) ?? 0) % palette.length];
      c.globalAlpha = re && !hit ? 0.12 : 0.6 + 0.35 * Math.max(-1, Math.min(1, z));
      c.beginPath();
      c.arc(x, y, (i === this.near ? 1.8 : 1) * r * (1 + 0.25 * z), 0, 7);
      c.fill();
      if (this.labels.checked && d.points.length <= 1000 && (!re || hit)) {
        c.fillStyle = css("--text");
        c.textAlign = "left";
        c.fillText(d.metadata?.[i]?.[0] ?? i, x + r + 2, y + 3);
      }
    }
    c.globalAlpha = 1;
    if (by >= 0 && !many) values.forEach((v, i) => {
      c.fillStyle = palette[i % palette.length];
      c.fillRect(8, 10 + i * 16, 10, 10);
      c.fillStyle = css("--faint");
      c.textAlign = "left";
      c.textBaseline = "middle";
      c.fillText(v, 23, 15 + i * 16);
    });
  },
  turnBy(a, b) {
    if (this.mode === "3d") this.turn = [this.turn[0] + a, Math.max(-1.57, Math.min(1.57, this.turn[1] + b))];
    else this.shift = [this.shift[0] + a * 100, this.shift[1] + b * 100];
  },
  move(e) {
    if (this.drag) {
      this.turnBy((e.clientX - this.drag[0]) / 100, (e.clientY - this.drag[1]) / 100);
      this.drag = [e.clientX, e.clientY];
      return this.area.ask();
    }
    if (!this.spots) return;
    const box = this.area.canvas.getBoundingClientRect(), x = e.clientX - box.left, y = e.clientY - box.top;
    let best = 64, near = -1;
    for (const [px, py, , i] of this.spots) { const f = (px - x) ** 2 + (py - y) ** 2; if (f < best) { best = f; near = i; } }
    if (near !== this.near) { this.near = near; this.area.ask(); }
    near < 0 ? hideTip() : showTip(e.clientX, e.clientY, this.labelOf(near));
  },
  unmount() { this.area.stop(); },
};
export default view;
