// Scalars: one chart for each tag, with all shown runs in it.
import {Chart} from "./chart.js";
import {choice, clock, colour, duration, el, fill, get, later, link, number, regex, section, short, whenSeen} from "./util.js";

const MOST_NUMBERS = 30000; // of a chart: with many runs each gets fewer points

// What is read off a chart, of one run.
export function lineOf(run, r, axis, columns = "all") {
  const value = r.value.map(number), smoothed = r.smoothed && r.smoothed.map(number);
  const x = axis === "step" ? r.step : axis === "wall" ? r.wall : r.wall.map(w => w - r.began);
  return {name: run, colour: colour(run), x, y: smoothed || value, faint: smoothed ? value : undefined, count: r.count,
    rows: i => columns === "value" ? [short(value[i]), r.step[i]]
      : [...(smoothed ? [short(smoothed[i])] : []), short(value[i]), r.step[i], clock(r.wall[i]), duration(r.wall[i] - r.began)]};
}

class Card {
  constructor(view, tag, description) {
    Object.assign(this, {view, tag, seen: false, asked: "", wide: false});
    this.plot = el("div", {class: "plot"});
    this.badge = el("span", {class: "faint"});
    const toggle = (text, title, fn) => el("button", {title, "aria-label": `${title}: ${tag}`, "aria-pressed": "false",
      onclick: e => e.currentTarget.setAttribute("aria-pressed", String(fn()))}, text);
    this.root = el("article", {class: "card", "data-tag": tag},
      el("div", {class: "head"}, el("h2", {title: description ? `${tag}\n${description}` : tag}, tag),
        toggle("log y", "logarithmic y axis", () => { this.chart.change({logY: !this.chart.logY}); return this.chart.logY; }),
        el("button", {title: "show all", "aria-label": `show all: ${tag}`, onclick: () => this.chart.zoom(null)}, "fit"),
        el("button", {title: "download as CSV", "aria-label": `download as CSV: ${tag}`, onclick: () => this.download()}, "csv"),
        toggle("⤢", "wide", () => { this.root.classList.toggle("wide"); return this.root.classList.contains("wide"); })),
      this.plot, this.badge);
    this.chart = new Chart(this.plot, {label: `${tag}: curves of the runs; arrow keys read them`, onzoom: () => this.load(true)});
    this.load = later(force => this.loadNow(force), 60);
    whenSeen(this.root, seen => { this.seen = seen; if (seen) this.load(false); });
  }
  runs() { return this.view.app.tags("scalars").get(this.tag) || []; }
  address() { return link("scalars.csv", {tag: this.tag, run: this.runs()}); }
  download() { location.href = this.address(); }
  async loadNow(force) {
    const {app} = this.view, runs = this.runs(), {smooth, x} = app.settings;
    const key = JSON.stringify([runs, runs.map(r => app.run(r)?.generation), smooth, x, this.chart.view]);
    if (!this.seen || (!force && key === this.asked) || this.loading) { this.again = this.loading && key !== this.asked; return; }
    this.asked = key;
    this.loading = true;
    try {
      if (this.axis !== x) { this.axis = x; this.chart.view = null; }
      const width = this.plot.clientWidth || 330, view = this.chart.view;
      const points = Math.max(40, Math.min(Math.round(width * 2), Math.floor(MOST_NUMBERS / Math.max(1, runs.length))));
      const got = runs.length ? await get("scalars", {tag: this.tag, run: runs, points, smooth, x, from: view?.[0], to: view?.[1]}) : {runs: []};
      const lines = got.runs.map(r => lineOf(r.run, r, x));
      this.chart.columns = [...(smooth > 0 ? ["smoothed"] : []), "value", "step", "time", "relative"];
      this.chart.change({xFormat: x === "step" ? "number" : x, logX: this.view.logX && x !== "wall", outliers: this.view.outliers});
      this.chart.set(lines);
      this.summarize(got.runs);
    } catch (e) {
      fill(this.badge, el("span", {class: "error"}, e.message));
    }
    this.loading = false;
    if (this.again) { this.again = false; this.load(false); }
  }
  // The latest, the least and the greatest value.
  summarize(runs) {
    if (runs.length !== 1) {
      const latest = runs.map(r => number(r.value.at(-1))).filter(Number.isFinite);
      this.badge.textContent = latest.length ? `${runs.length} runs, now ${short(Math.min(...latest))} to ${short(Math.max(...latest))}` : "";
      return;
    }
    const all = runs[0].value.map(number), finite = all.filter(Number.isFinite);
    this.badge.textContent = finite.length ? `now ${short(all.at(-1))}, least ${short(Math.min(...finite))}, greatest ${short(Math.max(...finite))}` : `now ${short(all.at(-1))}`;
  }
  stop() { this.chart.stop(); }
}

const view = {
  label: "Scalars", cards: new Map(), logX: false, outliers: false,
  available: app => app.index.runs.some(r => r.tags?.scalars),
  mount(root, app) {
    this.app = app;
    const number = el("input", {type: "number", min: 0, max: 0.999, step: 0.01, value: app.settings.smooth, "aria-label": "smoothing"});
    const slider = el("input", {type: "range", id: "smooth", style: "width:80px", min: 0, max: 0.999, step: 0.001, value: app.settings.smooth, "aria-label": "smoothing"});
    const smooth = later(v => { app.set({smooth: v}); this.reload(); }, 80);
    slider.addEventListener("input", () => { number.value = slider.value; smooth(Number(slider.value)); });
    number.addEventListener("input", () => { slider.value = number.value; smooth(Math.min(0.999, Math.max(0, Number(number.value) || 0))); });
    const filter = el("input", {type: "search", id: "tag-filter", placeholder: "filter tags (regex)", "aria-label": "Filter tags by a regular expression", value: app.settings.tags, spellcheck: "false"});
    filter.addEventListener("input", later(() => {
      filter.classList.toggle("wrong", !regex(filter.value));
      app.set({tags: filter.value});
      this.arrange();
    }, 120));
    const check = (text, key) => el("label", {}, el("input", {type: "checkbox", checked: this[key], onchange: e => { this[key] = e.target.checked; this.reload(); }}), el("span", {}, text));
    this.list = el("div", {});
    root.append(el("div", {class: "tools"}, el("span", {class: "field"}, filter),
      el("label", {}, "smoothing", slider, number),
      el("label", {}, "x", choice({step: "step", relative: "relative", wall: "wall"}, app.settings.x, v => { app.set({x: v}); this.reload(); }, "horizontal axis")),
      check("log x", "logX"), check("no outliers", "outliers"),
      el("span", {class: "group", role: "group", "aria-label": "all charts"},
        el("button", {onclick: () => this.all(true)}, "log y"), el("button", {onclick: () => this.all(false)}, "linear"))), this.list);
    this.shape = "";
  },
  all(log) {
    for (const card of this.cards.values()) {
      card.chart.change({logY: log});
      card.root.querySelector("button").setAttribute("aria-pressed", String(log));
    }
  },
  reload() { for (const card of this.cards.values()) card.load(true); },
  redraw() { for (const card of this.cards.values()) card.chart.area.ask(); },
  // Sections by what stands before the first slash.
  arrange() {
    const re = regex(this.app.settings.tags), tags = [...this.app.tags("scalars").keys()].filter(t => !re || re.test(t));
    const shape = tags.join("\n");
    if (shape === this.shape) return;
    this.shape = shape;
    const groups = new Map();
    for (const tag of tags) {
      const at = tag.indexOf("/"), group = at > 0 ? tag.slice(0, at) : "";
      groups.has(group) ? groups.get(group).push(tag) : groups.set(group, [tag]);
    }
    for (const [tag, card] of this.cards) if (!tags.includes(tag)) { card.stop(); this.cards.delete(tag); }
    const card = tag => {
      if (!this.cards.has(tag)) this.cards.set(tag, new Card(this, tag, this.app.index.runs.find(r => r.descriptions?.[tag])?.descriptions[tag]));
      return this.cards.get(tag).root;
    };
    const last = group => group === "monitor" ? 1 : 0; // how it ran comes behind what it learned
    fill(this.list, ...[...groups].sort(([a], [b]) => last(a) - last(b)).map(([group, list]) => groups.size === 1 ? el("div", {class: "cards"}, list.map(card))
      : section(`scalars/${group}`, [group || "other", el("span", {class: "faint"}, list.length)], el("div", {class: "cards"}, list.map(card)))));
    if (!tags.length) this.list.append(el("p", {class: "faint"}, "No tags of the selected runs pass the filter."));
  },
  refresh() {
    this.arrange();
    for (const card of this.cards.values()) card.load(false);
  },
  unmount() {
    for (const card of this.cards.values()) card.stop();
    this.cards.clear();
  },
};
export default view;
