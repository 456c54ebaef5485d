// Lays out the open scopes of a graph, off the page's thread. Each scope is laid out by itself by dagre, the inner ones
// first: an open scope is a large node of the one around it. An edge is drawn in the scope that holds both of its ends.
/* global dagre */
importScripts("dagre.min.js");

let tree = null;

const MOST_LABELLED = 60; // children of a scope whose edges get room for labels
const AUXILIARY = /^(gradients|save|init|report_uninitialized.*|group_deps|Merge.*|.*Adam.*|.*Momentum.*|GradientDescent|train)(_\d+)?$/;

function build(nodes) {
  const root = {path: "", name: "", children: new Map(), count: 0, level: 0}, leaves = new Map();
  const prefixes = new Set();
  for (const n of nodes) for (let at = n.name.indexOf("/"); at > 0; at = n.name.indexOf("/", at + 1)) prefixes.add(n.name.slice(0, at));
  for (const n of nodes) {
    const parts = n.name.split("/");
    if (prefixes.has(n.name)) parts.push(`(${parts.at(-1)})`); // an op that is named as its scope
    let here = root;
    for (let i = 0; i < parts.length; i++) {
      here.count++;
      const path = parts.slice(0, i + 1).join("/");
      if (!here.children.has(path)) here.children.set(path, {path, name: parts[i], children: new Map(), count: 0, parent: here, level: i + 1});
      here = here.children.get(path);
    }
    here.node = n;
    leaves.set(n.name, here);
  }
  const edges = [];
  for (const n of nodes) for (const input of n.inputs) {
    const control = input[0] === "^", [name, slot = "0"] = (control ? input.slice(1) : input).split(":");
    const from = leaves.get(name), to = leaves.get(n.name);
    if (!from || from === to) continue;
    let a = from, b = to; // up to the children of the scope that both are in
    while (a.level > b.level) a = a.parent;
    while (b.level > a.level) b = b.parent;
    while (a.parent !== b.parent) { a = a.parent; b = b.parent; }
    edges.push({a, b, control, shape: control ? null : from.node.shapes?.[Number(slot)], from, to});
  }
  for (const e of edges) {
    const scope = e.a.parent, key = `${e.a.path}\n${e.b.path}`;
    scope.edges ??= new Map();
    if (!scope.edges.has(key)) scope.edges.set(key, {a: e.a, b: e.b, control: true, shapes: [], n: 0});
    const all = scope.edges.get(key);
    all.n++;
    if (!e.control) { all.control = false; all.shapes.push(e.shape); }
  }
  return root;
}

const size = dims => Array.isArray(dims) ? dims.reduce((a, d) => a * (d < 0 ? 16 : d), 1) : 1;
function labelOf(e) {
  if (e.control) return "";
  if (e.shapes.length > 1) return `${e.shapes.length} tensors`;
  const s = e.shapes[0];
  return s === undefined || s === null ? "" : s.length === 0 ? "scalar" : s.map(d => d < 0 ? "?" : d).join("×");
}

// Places the children of a scope from (0, 0) on; returns its extent, boxes and edges.
function layout(scope, open, moved) {
  const children = [...scope.children.values()], degree = new Map();
  for (const e of scope.edges?.values() || []) for (const x of [e.a, e.b]) degree.set(x, (degree.get(x) || 0) + 1);
  const aside = [], main = [];
  for (const c of children) {
    const rule = scope.level === 0 && (AUXILIARY.test(c.name) || (children.length > 20 && (degree.get(c) || 0) > children.length / 2) || (!degree.get(c) && children.length > 12));
    ((moved.has(c.path) ? !rule : rule) ? aside : main).push(c);
  }
  if (!main.length) main.push(...aside.splice(0));
  const inner = new Map(), boxes = [], edges = [];
  const extent = c => {
    if (c.children.size && open.has(c.path)) {
      const l = layout(c, open, moved);
      inner.set(c, l);
      return [Math.max(l.width + 24, Math.min(30, c.name.length) * 7 + 30), l.height + 44];
    }
    const width = Math.min(190, Math.max(52, c.name.length * 6.3 + 22));
    return c.children.size ? [width + 14, 36] : [width, 26];
  };
  const g = new dagre.graphlib.Graph(), many = main.length > MOST_LABELLED;
  g.setGraph({rankdir: "TB", nodesep: many ? 12 : 22, ranksep: many ? 24 : 30, edgesep: 8, marginx: 0, marginy: 0, ranker: main.length > 150 ? "longest-path" : "network-simplex"});
  g.setDefaultEdgeLabel(() => ({}));
  for (const c of main) { const [width, height] = extent(c); g.setNode(c.path, {width, height, c}); }
  for (const e of scope.edges?.values() || []) {
    if (!g.hasNode(e.a.path) || !g.hasNode(e.b.path)) continue;
    const label = labelOf(e);
    g.setEdge(e.a.path, e.b.path, {e, label, ...(label && !many ? {width: label.length * 5.5, height: 12, labelpos: "c"} : {})});
  }
  dagre.layout(g);
  let width = g.graph().width || 0, height = g.graph().height || 0;
  if (!Number.isFinite(width)) width = 0;
  if (!Number.isFinite(height)) height = 0;
  const put = (c, x, y, w, h, isAside) => {
    boxes.push({path: c.path, name: c.name, x, y, width: w, height: h, scope: c.children.size > 0, open: inner.has(c), count: c.count, op: c.node?.op, node: c.node?.name, level: c.level, aside: isAside});
    const l = inner.get(c);
    if (!l) return;
    const dx = x + (w - l.width) / 2, dy = y + 32;
    for (const b of l.boxes) boxes.push({...b, x: b.x + dx, y: b.y + dy});
    for (const e of l.edges) edges.push({...e, points: e.points.map(p => [p[0] + dx, p[1] + dy]), at: e.at && [e.at[0] + dx, e.at[1] + dy]});
  };
  for (const id of g.nodes()) { const n = g.node(id); put(n.c, n.x - n.width / 2, n.y - n.height / 2, n.width, n.height, false); }
  for (const id of g.edges()) {
    const x = g.edge(id);
    edges.push({a: x.e.a.path, b: x.e.b.path, control: x.e.control, label: x.label, weight: Math.max(...x.e.shapes.map(size), 1),
      points: x.points.map(p => [p.x, p.y]), at: x.label ? [x.x ?? x.points[x.points.length >> 1].x, x.y ?? x.points[x.points.length >> 1].y] : null});
  }
  if (aside.length) { // beside the rest, without edges
    let y = 18, x = width + 60, most = 0, top = 0;
    for (const c of aside) {
      const [w, h] = extent(c);
      if (y + h > Math.max(height, 420)) { x += most + 20; y = 18; most = 0; }
      put(c, x, y, w, h, true);
      y += h + 10;
      most = Math.max(most, w);
      top = Math.max(top, y);
    }
    width = x + most;
    height = Math.max(height, top);
  }
  return {width, height, boxes, edges};
}

onmessage = e => {
  try {
    if (e.data.nodes) tree = build(e.data.nodes);
    const began = performance.now(), out = layout(tree, new Set(e.data.open), new Set(e.data.moved));
    postMessage({...out, serial: e.data.serial, ms: performance.now() - began});
  } catch (why) {
    postMessage({error: String(why), serial: e.data.serial});
  }
};
