// Precision over recall, at a step; the pointer tells the threshold.
import {cardsView, cardFor, stepSlider} from "./cards.js";
import {Chart} from "./chart.js";
import {colour, el, get, number, short} from "./util.js";

export default cardsView({label: "PR curves", kind: "pr_curves", make(app, run, tag) {
  const plot = el("div", {class: "plot"});
  const chart = new Chart(plot, {label: `${tag} of ${run}: precision over recall`, columns: ["precision", "recall", "threshold", "TP", "FP", "TN", "FN"]});
  chart.change({yRange: [-0.03, 1.03], view: [-0.01, 1.01]});
  let steps = [];
  const slider = stepSlider((_, i) => {
    const s = steps[i], n = s.precision.length, taken = k => number(s.true_positives[k]) + number(s.false_positives[k]), at = i => [s.precision, s.recall].map(v => number(v[i]));
    let whole = n; // above the last thresholds nothing is taken, and there is no precision
    while (whole > 1 && !(taken(whole - 1) > 0)) whole--;
    const order = Array.from({length: whole}, (_, k) => k).sort((a, b) => at(a)[1] - at(b)[1] || at(b)[0] - at(a)[0]);
    chart.set([{name: run, colour: colour(run), x: order.map(k => at(k)[1]), y: order.map(k => at(k)[0]),
      rows: j => { const k = order[j]; return [short(at(k)[0]), short(at(k)[1]), short(n > 1 ? k / (n - 1) : 0), ...["true_positives", "false_positives", "true_negatives", "false_negatives"].map(x => short(number(s[x][k])))]; }}]);
  });
  const card = {root: cardFor(run, tag, plot, slider.root), stop: () => chart.stop(), redraw: () => chart.area.ask()};
  card.load = async () => {
    steps = (await get("pr_curves", {run, tag})).steps;
    if (steps.length) slider.set(steps);
  };
  return card;
}});
