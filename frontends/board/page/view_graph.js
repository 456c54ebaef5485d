// The graph: scopes that open and close, shapes on the edges, what a node is beside it.
import {bytes, css, el, fill, get, microseconds, note, regex, shape} from "./util.js";

const AUTO_OPEN = 14; // a graph with so few things at the top shows one level more

const view = {
  label: "Graph",
  available: app => app.index.runs.some(r => r.tags?.graphs),
  mount(root, app) {
    Object.assign(this, {app, run: null, runs: null, nodes: [], open: new Set(), moved: new Set(), selected: null, serial: 0, box: null, boxes: [], profile: null});
    this.worker = new Worker("graph_worker.js");
    this.worker.onmessage = e => this.placed(e.data);
    this.pick = el("select", {"aria-label": "run", onchange: () => this.load(this.pick.value)});
    this.by = el("select", {"aria-label": "colour by", onchange: () => this.recolour()}, [["structure", "structure"], ["op", "kind of op"], ["device", "device"], ["time", "time (of a profile)"], ["memory", "memory (of a profile)"]].map(([v, t]) => el("option", {value: v}, t)));
    this.search = el("input", {type: "search", id: "graph-search", placeholder: "find a node (regex)", "aria-label": "find a node", oninput: () => this.find(), onkeydown: e => { if (e.key === "Enter") this.found?.length && this.reveal(this.found[0].name); }});
    this.results = el("ul", {});
    this.svg = el("svg:svg", {class: "graph", role: "group", "aria-label": "graph", tabindex: 0});
    this.layer = el("svg:g");
    this.svg.append(el("svg:defs", {}, el("svg:marker", {id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 6, markerHeight: 6, orient: "auto-start-reverse", markerUnits: "userSpaceOnUse"}, el("svg:path", {d: "M0 1L8 4L0 7z", fill: "var(--faint)"}))), this.layer);
    this.info = el("aside", {class: "card info", "aria-label": "the selected node", "aria-live": "polite"});
    this.stage = el("div", {class: "card stage"}, this.svg);
    root.append(el("div", {class: "tools"}, el("label", {}, "run", this.pick), el("label", {}, "colour by", this.by), el("span", {class: "field"}, this.search),
      el("button", {onclick: () => this.fit()}, "fit"), el("button", {onclick: () => this.openAll(1)}, "open"), el("button", {onclick: () => { this.open.clear(); this.ask(null); }}, "close all")),
      el("div", {class: "split"}, this.stage, this.info));
    this.svg.addEventListener("pointerdown", e => { if (e.target === this.svg || !e.target.closest(".node") || e.target.closest(".open")) this.drag = [e.clientX, e.clientY, false]; });
    this.svg.addEventListener("pointermove", e => {
      if (!this.drag) return;
      const [dx, dy] = [e.clientX - this.drag[0], e.clientY - this.drag[1]];
      if (!this.drag[2] && Math.hypot(dx, dy) < 4) return;
      if (!this.drag[2]) this.svg.setPointerCapture(e.pointerId);
      this.drag = [e.clientX, e.clientY, true];
      this.at.x += dx;
      this.at.y += dy;
      this.transform();
    });
    this.svg.addEventListener("pointerup", () => { this.drag = null; });
    this.svg.addEventListener("wheel", e => {
      e.preventDefault();
      const box = this.svg.getBoundingClientRect();
      this.zoom(e.deltaY > 0 ? 0.88 : 1.14, e.clientX - box.left, e.clientY - box.top);
    }, {passive: false});
    this.svg.addEventListener("keydown", e => this.key(e));
    this.at = {x: 0, y: 0, k: 1};
  },
  refresh() {
    const runs = this.app.shown().filter(r => this.app.run(r).tags?.graphs);
    if (runs.join("\n") !== this.runs) {
      this.runs = runs.join("\n");
      fill(this.pick, ...runs.map(r => el("option", {value: r, selected: r === this.run}, r)));
      if (!runs.includes(this.run)) runs.length ? this.load(runs[0]) : fill(this.info, note("No graph", "None of the selected runs has one."));
    }
  },
  async load(run) {
    this.run = run;
    this.pick.value = run;
    fill(this.info, el("p", {class: "faint"}, "reading …"));
    let got;
    try { got = await get("graph", {run}); } catch (e) { return fill(this.info, el("p", {class: "error"}, e.message)); }
    if (this.run !== run) return;
    this.nodes = got.nodes;
    this.byName = new Map(got.nodes.map(n => [n.name, n]));
    this.users = new Map();
    for (const n of got.nodes) for (const i of n.inputs) {
      const from = i.replace(/^\^/, "").split(":")[0];
      this.users.has(from) ? this.users.get(from).push(n.name) : this.users.set(from, [n.name]);
    }
    this.open.clear();
    this.moved.clear();
    this.select(null);
    const top = new Set(got.nodes.map(n => n.name.split("/")[0]));
    if (top.size === 1 || top.size <= AUTO_OPEN / 3) for (const t of top) this.open.add(t);
    this.profile = null;
    this.ask(null, true);
    this.loadProfile(run);
  },
  async loadProfile(run) { // the latest run metadata tells times and memory of nodes
    try {
      const {profiles} = await get("profiles", {run});
      if (!profiles.length) return;
      const {devices} = await get("profile", {run, tag: profiles.at(-1).tag});
      this.profile = new Map();
      for (const d of devices) for (const n of d.nodes) {
        const name = n.name.split(":")[0], old = this.profile.get(name) || {took: 0, memory: 0};
        this.profile.set(name, {took: old.took + n.took, memory: old.memory + Math.max(n.memory, n.outputs.reduce((a, o) => a + o.bytes, 0))});
      }
      this.recolour();
    } catch { /* no times then */ }
  },
  // Lays out anew; `keep`: a path that stays where it is on the screen.
  ask(keep, first) {
    this.serial++;
    this.keep = keep && this.boxes.find(b => b.path === keep);
    this.fresh = first;
    this.svg.setAttribute("aria-busy", "true");
    this.worker.postMessage({nodes: first ? this.nodes : undefined, open: [...this.open], moved: [...this.moved], serial: this.serial});
  },
  placed(l) {
    if (l.serial !== this.serial) return;
    this.svg.setAttribute("aria-busy", "false");
    if (l.error) return fill(this.info, el("p", {class: "error"}, l.error));
    Object.assign(this, {boxes: l.boxes, edges: l.edges, width: l.width, height: l.height});
    this.render();
    if (this.selected !== null) this.describe();
    if (this.fresh) this.fit();
    else if (this.keep) {
      const now = this.boxes.find(b => b.path === this.keep.path);
      if (now) { this.at.x += (this.keep.x - now.x) * this.at.k; this.at.y += (this.keep.y - now.y) * this.at.k; }
      this.transform();
    }
    if (this.after) { const f = this.after; this.after = null; f(); }
  },
  render() {
    const focus = document.activeElement?.closest?.(".node")?.dataset.path;
    const path = points => points.length < 3 ? `M${points.join("L")}` : `M${points[0]}` + points.slice(1, -1).map((p, i) => {
      const q = points[i + 2];
      return i === points.length - 3 ? `Q${p} ${q}` : `Q${p} ${(p[0] + q[0]) / 2},${(p[1] + q[1]) / 2}`;
    }).join("");
    const boxes = [...this.boxes].sort((a, b) => a.level - b.level), parts = [];
    const draw = b => {
      const room = Math.floor((b.width - 14) / 6.2), name = b.name.length > room && !b.open ? b.name.slice(0, Math.max(3, room - 1)) + "…" : b.name;
      const g = el("svg:g", {class: `node ${b.scope ? "scope" : ""} ${b.open ? "open" : ""} ${b.path === this.selected ? "selected" : ""}`, tabindex: 0, role: "button", "data-path": b.path,
        "aria-label": b.scope ? `scope ${b.path}, ${b.count} nodes, ${b.open ? "open" : "closed"}` : `${b.op} ${b.node}`, "aria-expanded": b.scope ? String(b.open) : null, transform: `translate(${b.x},${b.y})`},
      b.scope || !/^(Const|Placeholder|VariableV2|VarHandleOp|Variable)$/.test(b.op) ? el("svg:rect", {width: b.width, height: b.height, rx: b.scope ? 7 : 13}) : el("svg:ellipse", {cx: b.width / 2, cy: b.height / 2, rx: b.width / 2, ry: b.height / 2}),
      el("svg:text", {x: b.width / 2, y: b.open ? 17 : b.scope ? 15 : b.height / 2 + 4, "text-anchor": "middle"}, name),
      b.scope && !b.open ? el("svg:text", {class: "hint", x: b.width / 2, y: 28, "text-anchor": "middle"}, `${b.count} nodes`) : null,
      el("svg:title", {}, b.scope ? `${b.path} (${b.count} nodes; double click ${b.open ? "closes" : "opens"})` : `${b.node}\n${b.op}`));
      g.addEventListener("click", e => { e.stopPropagation(); if (!this.drag?.[2]) this.select(b.path); });
      g.addEventListener("dblclick", e => { e.stopPropagation(); this.toggle(b); });
      return g;
    };
    // Scopes from outside in, each with its own edges above it.
    const levels = [...new Set(boxes.map(b => b.level))].sort((a, b) => a - b);
    for (const level of levels) {
      for (const e of this.edges) if (this.levelOf(e) === level) {
        parts.push(el("svg:path", {class: `edge ${e.control ? "control" : ""}`, d: path(e.points), "data-a": e.a, "data-b": e.b, "marker-end": "url(#arrow)", "stroke-width": Math.min(6, 1 + Math.log10(e.weight) / 1.6)}));
        if (e.label) parts.push(el("svg:text", {class: "label", x: e.at[0], y: e.at[1] + 3, "text-anchor": "middle"}, e.label));
      }
      for (const b of boxes) if (b.level === level) parts.push(draw(b));
    }
    fill(this.layer, ...parts);
    if (this.boxes.some(b => b.aside)) {
      const first = this.boxes.find(b => b.aside);
      this.layer.append(el("svg:text", {class: "hint", x: first.x, y: first.y - 8}, "beside the graph"));
    }
    if (focus) this.layer.querySelector(`[data-path="${CSS.escape(focus)}"]`)?.focus();
    this.recolour();
    this.light();
  },
  levelOf(e) { return e.a.split("/").length; },
  transform() { this.layer.setAttribute("transform", `translate(${this.at.x},${this.at.y}) scale(${this.at.k})`); },
  fit() {
    const box = this.svg.getBoundingClientRect(), k = Math.min(1.4, (box.width - 40) / Math.max(1, this.width), (box.height - 40) / Math.max(1, this.height));
    this.at = {k, x: (box.width - this.width * k) / 2, y: Math.max(20, (box.height - this.height * k) / 2)};
    this.transform();
  },
  zoom(factor, x, y) {
    const k = Math.max(0.03, Math.min(5, this.at.k * factor)), f = k / this.at.k;
    this.at = {k, x: x - (x - this.at.x) * f, y: y - (y - this.at.y) * f};
    this.transform();
  },
  key(e) {
    const path = e.target.closest?.(".node")?.dataset.path, b = path && this.boxes.find(x => x.path === path), box = this.svg.getBoundingClientRect();
    const pan = {ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60]}[e.key];
    if (e.key === "Enter" && b) { this.select(path); if (b.scope) this.toggle(b); }
    else if (e.key === " " && b) this.select(path);
    else if (e.key === "+" || e.key === "=") this.zoom(1.25, box.width / 2, box.height / 2);
    else if (e.key === "-") this.zoom(0.8, box.width / 2, box.height / 2);
    else if (e.key === "0") this.fit();
    else if (e.key === "a" && b) { this.toggleAside(path); }
    else if (pan) { this.at.x += pan[0]; this.at.y += pan[1]; this.transform(); }
    else return;
    e.preventDefault();
    e.stopPropagation();
  },
  toggle(b) {
    if (!b.scope) return;
    if (b.open) { for (const p of [...this.open]) if (p === b.path || p.startsWith(b.path + "/")) this.open.delete(p); }
    else this.open.add(b.path);
    this.ask(b.path);
  },
  openAll() { // one level more
    for (const b of this.boxes) if (b.scope && !b.open && !b.aside) this.open.add(b.path);
    this.ask(null);
  },
  toggleAside(path) {
    this.moved.has(path) ? this.moved.delete(path) : this.moved.add(path);
    this.ask(null);
  },
  find() {
    const re = this.search.value && regex(this.search.value);
    this.search.classList.toggle("wrong", this.search.value !== "" && !re);
    this.found = re ? this.nodes.filter(n => re.test(n.name)) : [];
    this.selected = null;
    if (!re) return this.describe();
    fill(this.info, el("h2", {}, `${this.found.length} nodes`), this.links(this.found.slice(0, 200).map(n => n.name)));
  },
  // Opens the scopes around a node and shows it in the middle.
  reveal(name) {
    const parts = name.split("/");
    for (let i = 1; i < parts.length; i++) this.open.add(parts.slice(0, i).join("/"));
    if (this.nodes.some(n => n.name.startsWith(name + "/"))) this.open.add(name);
    this.after = () => {
      const b = this.boxes.find(x => x.node === name) || this.boxes.find(x => x.path === name);
      if (!b) return;
      this.select(b.path);
      const box = this.svg.getBoundingClientRect();
      this.at.k = Math.max(this.at.k, 0.8);
      this.at.x = box.width / 2 - (b.x + b.width / 2) * this.at.k;
      this.at.y = box.height / 2 - (b.y + b.height / 2) * this.at.k;
      this.transform();
    };
    this.ask(null);
  },
  select(path) {
    this.selected = path;
    for (const g of this.layer.querySelectorAll(".node")) g.classList.toggle("selected", g.dataset.path === path);
    this.light();
    this.describe();
  },
  light() {
    for (const e of this.layer.querySelectorAll(".edge")) e.classList.toggle("lit", this.selected !== null && (e.dataset.a === this.selected || e.dataset.b === this.selected));
  },
  links(names) {
    return el("ul", {}, names.map(n => el("li", {}, el("button", {onclick: () => this.reveal(n.replace(/^\^/, "").split(":")[0])}, n))));
  },
  describe() {
    const b = this.boxes.find(x => x.path === this.selected), list = (title, names) => names.length ? [el("h2", {}, `${title} (${names.length})`), this.links(names)] : [];
    if (!b) {
      const ops = new Map();
      for (const n of this.nodes || []) ops.set(n.op, (ops.get(n.op) || 0) + 1);
      fill(this.info, el("h2", {}, `${this.nodes?.length ?? 0} nodes`), el("p", {class: "faint"}, "Click selects, double click opens a scope, the wheel zooms. Or: Tab, Enter, arrow keys, + − 0."),
        el("dl", {}, [...ops].sort((x, y) => y[1] - x[1]).slice(0, 25).map(([op, n]) => [el("dt", {}, n), el("dd", {}, op)])));
      return;
    }
    const title = el("h2", {}, b.node ?? b.path), aside = el("button", {class: "small", title: "a", onclick: () => this.toggleAside(b.path)}, b.aside ? "put into the graph" : "put beside the graph");
    if (b.scope) {
      const inside = this.nodes.filter(n => n.name === b.path || n.name.startsWith(b.path + "/")), names = new Set(inside.map(n => n.name));
      const inputs = [...new Set(inside.flatMap(n => n.inputs).filter(i => !names.has(i.replace(/^\^/, "").split(":")[0])))];
      const outputs = [...new Set(inside.flatMap(n => (this.users.get(n.name) || []).filter(u => !names.has(u))))];
      const time = this.profile && inside.reduce((a, n) => a + (this.profile.get(n.name)?.took || 0), 0);
      return fill(this.info, title, el("p", {class: "row"}, el("button", {class: "small", onclick: () => this.toggle(b)}, b.open ? "close" : "open"), aside),
        el("dl", {}, el("dt", {}, "nodes"), el("dd", {}, inside.length), time ? [el("dt", {}, "time"), el("dd", {}, microseconds(time))] : null), list("Inputs", inputs), list("Read by", outputs));
    }
    const n = this.byName.get(b.node), p = this.profile?.get(n.name);
    fill(this.info, title, el("p", {class: "row"}, b.level === 1 ? aside : null),
      el("dl", {}, el("dt", {}, "op"), el("dd", {}, n.op), n.device ? [el("dt", {}, "device"), el("dd", {}, n.device)] : null,
        (n.shapes || []).map((s, i) => [el("dt", {}, `output ${i}`), el("dd", {}, shape(s))]),
        p ? [el("dt", {}, "time"), el("dd", {}, microseconds(p.took)), el("dt", {}, "memory"), el("dd", {}, bytes(p.memory))] : null,
        Object.entries(n.attributes).map(([k, v]) => [el("dt", {}, k), el("dd", {}, v)])),
      list("Inputs", n.inputs.map(i => i)), list("Read by", [...new Set(this.users.get(n.name) || [])]));
  },
  recolour() {
    const by = this.by.value;
    if ((by === "time" || by === "memory") && !this.profile) fill(this.info, el("p", {class: "error"}, "This run has no run metadata: run a session with trace = true and write it by add_run_metadata."));
    const all = this.boxes.map(b => {
      const inside = b.scope ? this.nodes.filter(n => n.name.startsWith(b.path + "/")) : [this.byName.get(b.node)];
      if (by === "device") return inside.every(n => n.device === inside[0].device) ? inside[0].device || "?" : "several";
      if (by === "op") return b.scope ? null : b.op;
      if (this.profile && (by === "time" || by === "memory")) return inside.reduce((a, n) => a + (this.profile.get(n.name)?.[by === "time" ? "took" : "memory"] || 0), 0);
      return null;
    });
    const most = Math.max(...all.filter(v => typeof v === "number"), 1e-9), hash = t => [...t].reduce((a, c) => (a * 31 + c.codePointAt(0)) % 360, 7), dark = document.documentElement.dataset.theme === "dark";
    this.boxes.forEach((b, i) => {
      const mark = this.layer.querySelector(`[data-path="${CSS.escape(b.path)}"]`)?.firstChild, v = all[i];
      if (!mark) return;
      mark.style.fill = v === null || b.open ? "" : typeof v === "number" ? `color-mix(in srgb, var(--bad) ${Math.round(80 * Math.sqrt(v / most))}%, var(--node))` : `hsl(${hash(v)} 55% ${dark ? 28 : 84}%)`;
    });
  },
  redraw() { this.recolour(); },
  unmount() { this.worker.terminate(); },
};
export default view;
