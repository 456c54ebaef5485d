// How fluid a hundred runs are: figures, no verdict. From the project's folder:
//     build/bin/tfsdk run tests/board/write.lua build/many 100 5000
//     SCRIPT=fluid.js LOGS=build/many sh tests/board/browser.sh build/bin/tfsdk build/tests/board_browser
const wait = ms => new Promise(r => setTimeout(r, ms));
const $ = s => document.querySelector(s);
async function until(what, test) {
  for (let i = 0; i < 4000; i++) {
    if (test()) return;
    await wait(5);
  }
  throw new Error(`it did not come: ${what}`);
}
const middle = list => [...list].sort((a, b) => a - b)[list.length >> 1];
const ms = x => `${x.toFixed(1)} ms`;
async function times(n, fn) {
  const out = [];
  for (let i = 0; i < n; i++) {
    const from = performance.now();
    await fn();
    out.push(performance.now() - from);
  }
  return middle(out);
}
const opened = performance.now();
await until("the runs", () => board.index.loaded && board.index.runs.length >= 100);
const runs = board.index.runs.map(r => r.name).filter(r => r.startsWith("trial_"));
$("#tab-scalars").click();
const chart = () => board.view.cards?.get("train/loss")?.chart;
$('[data-tag="train/loss"]')?.scrollIntoView();
await until("all curves", () => chart()?.lines.length === runs.length);
const out = [`${runs.length} runs of ${board.run(runs[0]).step + 1} steps`, `all curves there after ${ms(performance.now() - opened)} (with reading the files)`];
const query = extra => "/data/scalars?" + new URLSearchParams([["tag", "train/loss"], ["points", 300], ...Object.entries(extra), ...runs.map(r => ["run", r])]);
let bytes = 0;
out.push(`answer, 100 runs, 300 points each, smoothed: ${ms(await times(9, async () => { bytes = (await (await fetch(query({smooth: 0.6}))).arrayBuffer()).byteLength; }))} (${(bytes / 1e6).toFixed(2)} MB)`);
out.push(`answer, index without tags: ${ms(await times(9, async () => (await fetch(`/data/index?since=${board.index.structure}`)).arrayBuffer()))}`);
out.push(`one chart drawn: ${ms(await times(15, () => { chart().still = null; chart().area.now(); }))}`);
const slider = $("#smooth");
let k = 0;
out.push(`smoothing moved until the chart has it: ${ms(await times(5, async () => {
  const before = chart().lines;
  slider.value = 0.3 + 0.1 * (++k % 5);
  slider.dispatchEvent(new Event("input", {bubbles: true}));
  await until("new lines", () => chart().lines !== before);
}))}`);
// pauses of the page while it scrolls and the pointer moves over a chart
const canvas = $('[data-tag="train/loss"] canvas'), box = canvas.getBoundingClientRect(), frames = [];
let last = performance.now(), going = true;
const tick = now => { frames.push(now - last); last = now; if (going) requestAnimationFrame(tick); };
requestAnimationFrame(tick);
for (let i = 0; i < 60; i++) {
  canvas.dispatchEvent(new PointerEvent("pointermove", {clientX: box.left + 60 + i * 4, clientY: box.top + 60 + i, bubbles: true}));
  await new Promise(requestAnimationFrame);
}
going = false;
out.push(`frames while the pointer reads it: ${ms(middle(frames))} in the middle, ${ms(Math.max(...frames.slice(3)))} the longest`);
await host({screenshot: "many.png"});
return out.join("\n");
