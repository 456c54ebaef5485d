// Pictures and sounds, step by step.
import {cardsView, cardFor, stepSlider} from "./cards.js";
import {clock, el, fill, get, link} from "./util.js";

function mediaCard(kind, make) {
  return (app, run, tag, options) => {
    const place = el("div", {class: kind === "images" ? "picture" : ""}), size = el("span", {class: "faint"});
    let samples = 0, shown = null;
    const show = s => {
      const key = `${s.step} ${s.wall} ${samples}`;
      size.title = clock(s.wall);
      if (shown === key) return;
      shown = key;
      fill(place, ...Array.from({length: samples}, (_, sample) => make(link("blob", {kind, run, tag, step: s.step, wall: s.wall, sample}), `${tag}, step ${s.step}, ${sample + 1} of ${samples}`)));
    };
    const slider = stepSlider(show), card = {root: cardFor(run, tag, place, slider.root, size)};
    card.change = () => place.classList.toggle("fit", Boolean(options.fit));
    card.change();
    card.load = async () => {
      const got = await get("media", {kind, run, tag});
      samples = got.samples;
      if (got.width) size.textContent = `${got.width} × ${got.height}${samples > 1 ? `, ${samples} pictures` : ""}`;
      slider.set(got.steps);
    };
    return card;
  };
}

export const images = cardsView({label: "Images", kind: "images", options: {fit: true}, make: mediaCard("images", (src, alt) => el("img", {src, alt, loading: "lazy"})),
  tools: (options, changed) => [el("label", {}, el("input", {type: "checkbox", checked: options.fit, onchange: e => { options.fit = e.target.checked; changed(); }}), el("span", {}, "fill the card"))]});
export const audio = cardsView({label: "Audio", kind: "audio", make: mediaCard("audio", (src, title) => el("audio", {controls: true, preload: "none", src, title}))});
