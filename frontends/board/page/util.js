// Small things that all views use.

// el("div", {class: "a", onclick: f}, child, "text", [more])
export function el(name, props = {}, ...children) {
  const [tag, namespace] = name.startsWith("svg:") ? [name.slice(4), "http://www.w3.org/2000/svg"] : [name, null];
  const out = namespace ? document.createElementNS(namespace, tag) : document.createElement(tag);
  for (const [key, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) out.addEventListener(key.slice(2), value);
    else if (key === "style" && typeof value === "object") for (const [k, v] of Object.entries(value)) out.style.setProperty(k, v);
    else out.setAttribute(key, value === true ? "" : value);
  }
  out.append(...children.flat(9).filter(c => c !== null && c !== undefined && c !== false));
  return out;
}

// Puts children into an element, instead of what is there.
export function fill(parent, ...children) {
  parent.replaceChildren(...children.flat(9).filter(c => c !== null && c !== undefined && c !== false));
}

// GET of /data/...; the server's own words when it fails. Parameters that are lists are repeated.
export async function get(path, params = {}, signal) {
  const answer = await fetch(link(path, params), {signal});
  const body = await answer.json().catch(() => ({error: `the server answered ${answer.status}`}));
  if (!answer.ok) throw new Error(body.error || `the server answered ${answer.status}`);
  return body;
}
export function link(path, params = {}) {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(params))
    for (const v of Array.isArray(value) ? value : [value]) if (v !== undefined && v !== null) query.append(key, v);
  const text = query.toString();
  return `/data/${path}${text ? "?" + text : ""}`;
}

// JSON has no NaN: the server writes names.
export const number = v => typeof v === "string" ? {"NaN": NaN, "Infinity": Infinity, "-Infinity": -Infinity}[v] ?? NaN : v;

export function short(x) {
  if (typeof x === "string") return x;
  if (x === null || x === undefined) return "";
  if (typeof x === "boolean") return String(x);
  if (!Number.isFinite(x)) return Number.isNaN(x) ? "NaN" : x < 0 ? "-∞" : "∞";
  const a = Math.abs(x);
  if (Number.isInteger(x) && a < 1e5) return String(x);
  if (a >= 1e5 && a < 1e15) { // 41M
    const [unit, name] = a >= 1e12 ? [1e12, "T"] : a >= 1e9 ? [1e9, "G"] : a >= 1e6 ? [1e6, "M"] : [1e3, "k"];
    return Number((x / unit).toPrecision(5)) + name;
  }
  return a !== 0 && (a >= 1e7 || a < 1e-4) ? x.toExponential(3).replace(/\.?0+e/, "e") : String(Number(x.toPrecision(5)));
}
export function duration(seconds) {
  const s = Math.max(0, seconds);
  if (s < 60) return `${s.toFixed(s < 10 ? 1 : 0)} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${Math.floor(s % 60)} s`;
  if (s < 172800) return `${Math.floor(s / 3600)} h ${Math.floor(s % 3600 / 60)} min`;
  return `${(s / 86400).toFixed(1)} days`;
}
export function microseconds(us) {
  if (us < 1000) return `${us < 10 ? us.toFixed(1) : us.toFixed(0)} µs`;
  return us < 1e6 ? `${(us / 1000).toFixed(us < 1e4 ? 2 : 1)} ms` : `${(us / 1e6).toFixed(2)} s`;
}
export function bytes(n) {
  for (const unit of ["B", "kB", "MB", "GB", "TB"]) {
    if (Math.abs(n) < 1000 || unit === "TB") return `${n < 10 && unit !== "B" ? n.toFixed(1) : n.toFixed(0)} ${unit}`;
    n /= 1000;
  }
}
export const clock = wall => new Date(wall * 1000).toLocaleString(undefined, {dateStyle: "short", timeStyle: "medium"});
export const shape = dims => dims === null ? "?" : dims.length === 0 ? "scalar" : dims.map(d => d < 0 ? "?" : d).join("×");

export function later(fn, ms) {
  let timer = 0;
  return (...args) => { clearTimeout(timer); timer = setTimeout(() => fn(...args), ms); };
}

// A regular expression, or null while it is being typed wrongly.
export function regex(text) {
  try { return new RegExp(text, "i"); } catch { return null; }
}

// The colours of runs: apart in hue and lightness, readable on both backgrounds.
const palette = ["#2f7ed8", "#e0682f", "#2ca25f", "#a55ec9", "#d8356b", "#17a6b0", "#b98a15", "#6b7fd7", "#7a9a2e", "#c7618f", "#4f8f8b", "#a8664a"];
const colours = new Map();
export function colour(run) {
  if (!colours.has(run)) colours.set(run, palette[colours.size % palette.length]);
  return colours.get(run);
}
export function resetColours(runs) { for (const run of runs) colour(run); }

export const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// One hint for the whole page, beside the pointer.
let tip = null;
export function showTip(x, y, ...content) {
  if (!tip) document.body.append(tip = el("div", {id: "tip", role: "tooltip"}));
  fill(tip, ...content.flat());
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(4, x + 16 + box.width > innerWidth ? x - box.width - 12 : x + 16)}px`;
  tip.style.top = `${Math.max(4, Math.min(y + 14, innerHeight - box.height - 6))}px`;
}
export function hideTip() { if (tip) tip.hidden = true; }

// A section of cards that folds; remembers how it was left.
const folded = new Set(JSON.parse(localStorage.getItem("folded") || "[]"));
export function section(key, title, ...content) {
  return el("details", {class: "section", open: !folded.has(key), ontoggle: e => {
    e.target.open ? folded.delete(key) : folded.add(key);
    localStorage.setItem("folded", JSON.stringify([...folded].slice(-500)));
  }}, el("summary", {}, title), ...content);
}
// Buttons of which one is pressed.
export function choice(options, value, onchange, label) {
  const group = el("span", {class: "group", role: "group", "aria-label": label});
  for (const [key, text] of Object.entries(options))
    group.append(el("button", {"aria-pressed": String(key === value), "data-value": key, onclick: e => {
      for (const b of group.children) b.setAttribute("aria-pressed", String(b === e.currentTarget));
      onchange(key);
    }}, text));
  return group;
}
export function note(title, text) { return el("div", {class: "note"}, el("h2", {}, title), text); }
// Calls fn when the element comes into view.
const watcher = new IntersectionObserver(list => {
  for (const e of list) e.target.dispatchEvent(new CustomEvent("seen", {detail: e.isIntersecting}));
}, {rootMargin: "120px"});
export function whenSeen(element, fn) {
  element.addEventListener("seen", e => fn(e.detail));
  watcher.observe(element);
}
