// The page: tabs, runs, settings, news from the server.
import {colour, duration, el, fill, get, hideTip, later, note, regex, resetColours} from "./util.js";
import scalars from "./view_scalars.js";
import histograms from "./view_histograms.js";
import {images, audio} from "./view_media.js";
import text from "./view_text.js";
import graph from "./view_graph.js";
import hparams from "./view_hparams.js";
import curves from "./view_curves.js";
import projector from "./view_projector.js";
import profile from "./view_profile.js";

const views = {scalars, histograms, images, audio, text, graph, hparams, curves, projector, profile};
const INTERVAL = 2000;

// What the reader has chosen. It stands in the address, so that it can be kept and passed on.
const defaults = {tab: "", runs: "", tags: "", smooth: 0.6, x: "step", off: ""};
export const app = {
  settings: {...defaults}, index: {runs: []}, off: new Set(), error: null,
  // Names of the runs that are ticked and pass the filter.
  shown() { return this.index.runs.filter(r => this.passes(r.name) && !this.off.has(r.name)).map(r => r.name); },
  passes(name) { const re = regex(this.settings.runs); return !re || re.test(name); },
  run(name) { return this.index.runs.find(r => r.name === name); },
  // {tag: [runs]} of a kind, of shown runs.
  tags(kind) {
    const out = new Map();
    for (const name of this.shown())
      for (const tag of this.run(name).tags?.[kind] || []) out.has(tag) ? out.get(tag).push(name) : out.set(tag, [name]);
    return new Map([...out].sort(([a], [b]) => a.localeCompare(b, undefined, {numeric: true})));
  },
  changed: () => refresh(false),
  set(change) {
    Object.assign(this.settings, change);
    writeAddress();
  },
};

function readAddress() {
  const given = new URLSearchParams(location.hash.slice(1));
  for (const key of Object.keys(defaults)) app.settings[key] = given.get(key) ?? defaults[key];
  app.settings.smooth = Math.min(0.999, Math.max(0, Number(app.settings.smooth) || 0));
  app.off = new Set(app.settings.off ? JSON.parse(app.settings.off) : []);
}
const writeAddress = later(() => {
  const query = new URLSearchParams();
  app.settings.off = app.off.size ? JSON.stringify([...app.off]) : "";
  for (const [key, value] of Object.entries(app.settings)) if (String(value) !== String(defaults[key])) query.set(key, value);
  history.replaceState(null, "", "#" + query);
}, 150);

// ------------------------------------------------------------------------------------- theme

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  dispatchEvent(new Event("resize")); // canvases take their colours when they draw
  mounted?.view.redraw?.();
}
function startTheme() {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const wanted = () => localStorage.getItem("theme") || (system.matches ? "dark" : "light");
  system.addEventListener("change", () => setTheme(wanted()));
  setTheme(wanted());
}
function toggleTheme() {
  const next = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  localStorage.setItem("theme", next);
  setTheme(next);
}

// -------------------------------------------------------------------------------------- runs

const $ = id => document.getElementById(id);

function drawRuns() {
  const list = $("runs"), focus = document.activeElement?.dataset?.run;
  const passing = app.index.runs.filter(r => app.passes(r.name));
  fill(list, ...passing.map(r => el("li", {title: `${r.name}\nstep ${r.step}, began ${new Date(r.began * 1000).toLocaleString()}, ran ${duration(r.latest - r.began)}`},
    el("label", {}, el("input", {type: "checkbox", checked: !app.off.has(r.name), "data-run": r.name, style: {"--run": colour(r.name)},
      onchange: e => { e.target.checked ? app.off.delete(r.name) : app.off.add(r.name); runsChanged(); }}),
      el("bdi", {class: "name"}, r.name === "." ? "(the folder itself)" : r.name)),
    app.index.now - r.latest < 30 ? el("span", {class: "dot live", title: "news in the last 30 seconds"}) : null,
    el("span", {class: "step"}, r.step),
    el("button", {class: "only", "aria-label": `only ${r.name}`, onclick: () => {
      for (const x of app.index.runs) x.name === r.name ? app.off.delete(x.name) : app.off.add(x.name);
      drawRuns();
      runsChanged();
    }}, "only"))));
  if (focus) list.querySelector(`[data-run="${CSS.escape(focus)}"]`)?.focus();
  $("run-count").textContent = `${app.shown().length} of ${app.index.runs.length} runs`;
  fill($("faults"), ...(app.index.faults || []).map(f => el("p", {}, `⚠ ${f.run}: ${f.text}`)));
  $("folder").textContent = app.index.folder || "";
}
function runsChanged() {
  $("run-count").textContent = `${app.shown().length} of ${app.index.runs.length} runs`;
  app.set({});
  refresh(true);
}
function setAll(on) {
  for (const r of app.index.runs) if (app.passes(r.name)) on ? app.off.delete(r.name) : app.off.add(r.name);
  drawRuns();
  runsChanged();
}

// -------------------------------------------------------------------------------------- tabs

let mounted = null;

function available() { return Object.entries(views).filter(([, v]) => v.available(app)); }
function drawTabs() {
  const tabs = available();
  fill($("tabs"), ...tabs.map(([key, v]) => el("button", {role: "tab", id: `tab-${key}`, "aria-selected": String(key === mounted?.key),
    tabindex: key === mounted?.key ? 0 : -1, onclick: () => show(key)}, v.label)));
}
function show(key) {
  mounted?.view.unmount?.();
  hideTip();
  const main = $("main");
  fill(main);
  main.scrollTop = 0;
  mounted = {key, view: views[key]};
  app.set({tab: key});
  drawTabs();
  $(`tab-${key}`).scrollIntoView({block: "nearest", inline: "nearest"});
  main.setAttribute("aria-labelledby", `tab-${key}`);
  document.title = `${views[key].label} · tfsdk board`;
  views[key].mount(main, app);
  views[key].refresh(true);
}
// chosen: the reader changed something; else the server has news.
function refresh(chosen) {
  const tabs = available().map(([key]) => key);
  if (!tabs.length) {
    mounted?.view.unmount?.();
    mounted = null;
    drawTabs();
    fill($("main"), app.error ? note("The server does not answer", app.error)
      : app.index.loaded === false ? note("Reading …", "The event files are being read.")
      : app.index.runs.length ? note("Nothing selected", "Tick a run at the left, or change the filter.")
      : note("No runs yet", `There are no event files below ${app.index.folder || "the folder"}. This page shows them as soon as they come.`));
    return;
  }
  if (!mounted || !views[mounted.key].available(app)) return show(tabs.includes(app.settings.tab) ? app.settings.tab : tabs[0]);
  if ($("tabs").children.length !== tabs.length) drawTabs();
  mounted.view.refresh(chosen);
}

// -------------------------------------------------------------------------------------- news

async function poll() {
  const before = app.index;
  try {
    const next = await get("index", before.structure === undefined ? {} : {since: before.structure});
    app.error = null;
    if (next.structure === before.structure) {
      const known = new Map(before.runs.map(r => [r.name, r]));
      for (const r of next.runs) Object.assign(r, {tags: known.get(r.name)?.tags, descriptions: known.get(r.name)?.descriptions});
      next.faults = before.faults;
    }
    app.index = next;
    resetColours(next.runs.map(r => r.name));
    if (next.structure !== before.structure || next.generation !== before.generation || next.loaded !== before.loaded) {
      drawRuns();
      refresh(false);
    }
  } catch (e) {
    app.error = e.message;
    if (before.structure === undefined) refresh(false);
  }
  const live = app.index.runs.some(r => app.index.now - r.latest < 30);
  fill($("status"), el("span", {class: `dot ${app.error ? "bad" : live ? "live" : ""}`}),
    el("span", {class: "words"}, app.error ? "no answer" : app.index.loaded === false ? "reading …" : live ? "live" : ""));
  setTimeout(poll, document.hidden ? 5 * INTERVAL : app.index.loaded === false ? 400 : INTERVAL);
}

// -------------------------------------------------------------------------------------- keys

const keys = [["1 … 9, 0", "go to a tab"], ["/", "filter tags"], ["r", "filter runs"], ["m", "show or hide the runs"], ["d", "dark or light"], ["Tab, Enter, Space", "move, press"],
  ["← →", "on a chart: move the reading line (with Shift: faster)"], ["+ − 0", "on a chart, graph or time line: zoom in, out, all"], ["drag, Shift + wheel, double click", "the same with the mouse"],
  ["Enter", "on a scope of the graph: open or close"], ["?", "this list"], ["Esc", "close"]];
function onKey(e) {
  if (e.ctrlKey || e.metaKey || e.altKey || e.defaultPrevented) return;
  if (/^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName) && e.target.type !== "checkbox" && e.target.type !== "range") {
    if (e.key === "Escape") e.target.blur();
    return;
  }
  const tabs = available().map(([key]) => key);
  if (e.target.getAttribute("role") === "tab" && (e.key === "ArrowRight" || e.key === "ArrowLeft")) {
    const at = tabs.indexOf(mounted.key) + (e.key === "ArrowRight" ? 1 : -1);
    show(tabs[(at + tabs.length) % tabs.length]);
    $("tabs").querySelector("[aria-selected=true]").focus();
  } else if (/^[0-9]$/.test(e.key)) {
    const key = tabs[(Number(e.key) + 9) % 10];
    if (key) show(key);
  } else if (e.key === "/") {
    document.querySelector("#main input[type=search]")?.focus();
  } else if (e.key === "r") {
    document.body.classList.remove("narrow-side");
    $("run-filter").focus();
  } else if (e.key === "m") toggleSide();
  else if (e.key === "d") toggleTheme();
  else if (e.key === "?") $("keys").showModal();
  else return;
  e.preventDefault();
}
function toggleSide() {
  const hidden = document.body.classList.toggle("narrow-side");
  $("menu").setAttribute("aria-expanded", String(!hidden));
}

readAddress();
startTheme();
if (innerWidth < 760) toggleSide();
$("theme").onclick = toggleTheme;
$("menu").onclick = toggleSide;
$("help").onclick = () => $("keys").showModal();
$("keys").append(el("h2", {}, "Keys"), el("table", {}, keys.map(([k, t]) => el("tr", {}, el("td", {}, el("kbd", {}, k)), el("td", {}, t)))),
  el("p", {}, el("button", {onclick: () => $("keys").close()}, "Close")));
$("run-filter").value = app.settings.runs;
$("run-filter").addEventListener("input", later(() => {
  $("run-filter").classList.toggle("wrong", !regex($("run-filter").value));
  app.set({runs: $("run-filter").value});
  drawRuns();
  refresh(true);
}, 120));
$("runs-all").onclick = () => setAll(true);
$("runs-none").onclick = () => setAll(false);
addEventListener("keydown", onKey);
addEventListener("hashchange", () => { readAddress(); drawRuns(); refresh(true); });
globalThis.board = app; // for scripts and tests
Object.defineProperty(app, "view", {get: () => mounted?.view});
poll();
