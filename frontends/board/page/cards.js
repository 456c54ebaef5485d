// Views that show a card for each run and tag of one kind.
import {colour, el, fill, later, regex, section, whenSeen} from "./util.js";

// make(app, run, tag, options): {root, load()}; tools(options, changed): what stands above.
export function cardsView({label, kind, make, tools = () => [], options = {}}) {
  return {
    label, cards: new Map(), options,
    available: app => app.index.runs.some(r => r.tags?.[kind]),
    mount(root, app) {
      this.app = app;
      this.shape = null;
      const filter = el("input", {type: "search", placeholder: "filter tags (regex)", "aria-label": "Filter tags by a regular expression", value: app.settings.tags, spellcheck: "false"});
      filter.addEventListener("input", later(() => {
        filter.classList.toggle("wrong", !regex(filter.value));
        app.set({tags: filter.value});
        this.refresh(true);
      }, 120));
      this.list = el("div", {});
      root.append(el("div", {class: "tools"}, el("span", {class: "field"}, filter), tools(this.options, () => { for (const c of this.cards.values()) c.change?.(); })), this.list);
    },
    refresh() {
      const re = regex(this.app.settings.tags), tags = [...this.app.tags(kind)].filter(([t]) => !re || re.test(t)), keep = new Set();
      const shape = JSON.stringify(tags);
      for (const [tag, runs] of tags) for (const run of runs) keep.add(`${run}\n${tag}`);
      for (const [key, card] of this.cards) if (!keep.has(key)) { card.stop?.(); this.cards.delete(key); }
      const one = (run, tag) => {
        const key = `${run}\n${tag}`;
        if (!this.cards.has(key)) {
          const card = make(this.app, run, tag, this.options);
          card.asked = -1;
          card.news = () => {
            const generation = this.app.run(run)?.generation;
            if (!card.seen || card.asked === generation) return;
            card.asked = generation;
            card.load().catch(e => card.root.append(el("p", {class: "error"}, e.message)));
          };
          whenSeen(card.root, seen => { card.seen = seen; card.news(); });
          this.cards.set(key, card);
        }
        return this.cards.get(key).root;
      };
      if (shape !== this.shape) {
        this.shape = shape;
        // Sections by what stands before the first slash.
        const groups = new Map();
        for (const [tag, runs] of tags) {
          const at = tag.indexOf("/"), group = at > 0 ? tag.slice(0, at) : tag;
          groups.has(group) || groups.set(group, []);
          for (const run of runs) groups.get(group).push(one(run, tag));
        }
        fill(this.list, ...[...groups].map(([group, list]) => section(`${kind}/${group}`, [group, el("span", {class: "faint"}, list.length)], el("div", {class: "cards"}, list))));
      }
      for (const card of this.cards.values()) card.news();
    },
    redraw() { for (const c of this.cards.values()) c.redraw?.(); },
    unmount() {
      for (const c of this.cards.values()) c.stop?.();
      this.cards.clear();
    },
  };
}

export function cardFor(run, tag, ...content) {
  return el("article", {class: "card", "data-run": run, "data-tag": tag},
    el("div", {class: "head"}, el("span", {class: "swatch", style: {"--run": colour(run)}}), el("h2", {title: `${run}: ${tag}`}, tag), el("span", {class: "faint of"}, run === "." ? "" : run)), ...content);
}

// A slider over steps that stays at the end while new ones come.
export function stepSlider(onchange) {
  const input = el("input", {type: "range", min: 0, max: 0, value: 0, "aria-label": "step"}), text = el("span", {class: "faint"});
  let steps = [];
  const show = () => {
    const s = steps[Number(input.value)];
    text.textContent = s ? `step ${s.step}` : "";
    input.setAttribute("aria-valuetext", text.textContent);
    if (s) onchange(s, Number(input.value));
  };
  input.addEventListener("input", show);
  return {root: el("div", {class: "slider"}, input, text), set(list) {
    const atEnd = Number(input.value) >= steps.length - 1;
    const old = steps[Number(input.value)]?.step;
    steps = list;
    input.max = Math.max(0, list.length - 1);
    input.disabled = list.length < 2;
    input.value = atEnd ? list.length - 1 : Math.max(0, list.findIndex(s => s.step === old));
    show();
  }};
}
