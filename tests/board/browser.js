// Runs in the page (see browser.c): what a reader does, and what must be seen then.
const wait = ms => new Promise(r => setTimeout(r, ms));
const $ = s => document.querySelector(s), all = s => [...document.querySelectorAll(s)];
function check(fine, what) { if (!fine) throw new Error(what); }
async function until(what, test) {
  for (let i = 0; i < 100; i++) {
    const got = await test();
    if (got) return got;
    await wait(50);
  }
  throw new Error(`it did not come: ${what}`);
}
const type = (input, text) => { input.value = text; input.dispatchEvent(new Event("input", {bubbles: true})); };
const card = tag => $(`#main [data-tag="${CSS.escape(tag)}"]`);
const tab = async key => { $(`#tab-${key}`).click(); await until(`tab ${key}`, () => $(`#tab-${key}`)?.getAttribute("aria-selected") === "true"); };
// What has colour on a canvas: pixels that are near to one.
function pixels(canvas, colour) {
  const [r, g, b] = [1, 3, 5].map(i => parseInt(colour.slice(i, i + 2), 16)), {data} = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  let n = 0;
  for (let i = 0; i < data.length; i += 4) if (data[i + 3] > 100 && Math.abs(data[i] - r) + Math.abs(data[i + 1] - g) + Math.abs(data[i + 2] - b) < 40) n++;
  return n;
}
const colours = () => Object.fromEntries(all("#runs input").map(i => [i.dataset.run, i.style.getPropertyValue("--run")]));
const centre = e => { const b = e.getBoundingClientRect(); return [b.left + b.width / 2, b.top + b.height / 2]; };
const mouse = (mouse, x, y, more = {}) => host({mouse, x, y, clickCount: 1, ...more});

// -- tabs for what there is
const keys = await until("tabs", () => { const t = all("#tabs button").map(b => b.id.slice(4)); return t.includes("projector") && t; });
check(keys.join() === "scalars,histograms,images,audio,text,graph,hparams,curves,projector,profile", `tabs: ${keys}`);
check(all("#runs li").length === 7, "seven runs");

// -- scalars: curves in the runs' colours; runs go and come
await tab("scalars");
const loss = await until("a card", () => card("train/loss"));
loss.scrollIntoView();
const run = colours(), canvas = loss.querySelector("canvas");
await until("curves", () => pixels(canvas, run.trial_00) > 30 && pixels(canvas, run.trial_03) > 30);
check(board.view.cards.get("train/loss").chart.lines.map(l => l.name).join() === "trial_00,trial_01,trial_02,trial_03", "a run without the tag has no curve");
$('#runs input[data-run="trial_00"]').click();
await until("a curve goes", () => pixels(canvas, run.trial_00) === 0 && pixels(canvas, run.trial_03) > 30);
type($("#run-filter"), "trial_0[02]");
await until("the filter of runs", () => all("#runs li").length === 2 && pixels(canvas, run.trial_03) === 0 && pixels(canvas, run.trial_02) > 30);
type($("#run-filter"), "(");
await until("a wrong expression is marked", () => $("#run-filter").classList.contains("wrong"));
type($("#run-filter"), "");
$("#runs-all").click();
await until("all again", () => pixels(canvas, run.trial_00) > 30);
await until("the address says what is not as usual", () => !location.hash.includes("trial"));

// -- filter of tags, smoothing, axes
type($("#tag-filter"), "^validation/");
await until("the filter of tags", () => all("#main .card").length === 1 && card("validation/loss"));
check((await until("the address", () => location.hash.includes("validation") && location.hash)).includes("tags="), "kept in the address");
type($("#tag-filter"), "");
await until("all cards", () => card("train/loss"));
let chart = card("train/loss").querySelector("canvas");
card("train/loss").scrollIntoView();
await until("smoothed and plain", () => pixels(chart, run.trial_00) > 30);
const before = board.settings.smooth, smoothed = chart.toDataURL();
type($("#smooth"), 0);
await until("smoothing", () => board.settings.smooth === 0 && before === 0.6 && chart.toDataURL() !== smoothed);
$('[data-value="relative"]').click();
await until("the axis", () => board.settings.x === "relative" && $('[data-value="relative"]').getAttribute("aria-pressed") === "true");
const axis = tag => board.view.cards.get(tag).chart;
await until("seconds from the beginning", () => Math.abs(axis("train/loss").x?.high - 99.5) < 6);
$('[data-value="step"]').click();
await until("steps again", () => axis("train/loss").x?.high > 190);
// logarithmic axes: equal distances are equal ratios
const ratio = s => s.at(Math.sqrt(s.low * s.high)) - (s.from + s.to) / 2;
check(!axis("train/loss").y.log && Math.abs(ratio(axis("train/loss").x)) > 1, "linear at first");
const logs = card("train/loss").querySelector(".head button"), logX = [...all(".tools label")].find(l => l.textContent.includes("log x")).querySelector("input");
logs.click();
await until("log y", () => logs.getAttribute("aria-pressed") === "true" && axis("train/loss").y.log && Math.abs(ratio(axis("train/loss").y)) < 1e-6);
logs.click();
logX.click();
await until("log x", () => axis("train/loss").x.log && Math.abs(ratio(axis("train/loss").x)) < 1e-6);
logX.click();
await until("linear again", () => !axis("train/loss").x.log && !axis("train/loss").y.log);

// -- the pointer reads values: those of the file
const [cx, cy] = centre(chart);
await mouse("mouseMoved", cx, cy);
const tip = await until("the hint", () => $("#tip") && !$("#tip").hidden && $("#tip"));
const rows = [...tip.querySelectorAll("tr")].map(r => [...r.children].map(c => c.textContent.trim()));
check(rows[0].join() === "run,value,step,time,relative" && rows.length === 5, `the hint: ${JSON.stringify(rows)}`);
const told = rows.find(r => r[0].includes("trial_01")), data = (await (await fetch("/data/scalars?tag=train/loss&run=trial_01")).json()).runs[0];
check(Math.abs(Number(told[1]) - data.value[Number(told[2])]) < 1e-4, `the hint tells the value: ${told}`);
// dragging zooms, double click shows all
await mouse("mousePressed", cx - 60, cy);
await mouse("mouseMoved", cx + 10, cy, {buttons: 1});
await mouse("mouseMoved", cx + 60, cy, {buttons: 1});
await mouse("mouseReleased", cx + 60, cy);
await wait(400);
await mouse("mouseMoved", cx - 150, cy);
const left = Number([...$("#tip").querySelectorAll("tr")].at(-1).children[2].textContent);
check(left > 20, `zoomed: the left end is at step ${left}`);
card("train/loss").querySelectorAll(".head button")[1].click(); // fit
await wait(300);
await mouse("mouseMoved", cx - 190, cy + 1);
check(Number([...$("#tip").querySelectorAll("tr")].at(-1).children[2].textContent) < left, "all is shown again");
await mouse("mouseMoved", 5, 5);

// -- by keys alone: a tab's number, dark and light, reading a chart, zooming it
await host({key: "d"});
const dark = document.documentElement.dataset.theme;
await host({key: "d"});
check(dark !== document.documentElement.dataset.theme, "d is dark or light");
await host({key: "2"});
await until("2 is the second tab", () => $("#tab-histograms").getAttribute("aria-selected") === "true");
await host({key: "1"});
await until("1 is the first", () => $("#tab-scalars").getAttribute("aria-selected") === "true");
chart = (await until("a card", () => card("train/loss"))).querySelector("canvas");
chart.focus();
await until("a curve", () => pixels(chart, run.trial_00) > 30);
for (let i = 0; i < 3; i++) await host({key: "ArrowRight"});
await until("the hint by keys", () => !$("#tip").hidden);
const step = () => Number([...$("#tip").querySelectorAll("tr")].at(-1).children[2].textContent), first = step();
for (let i = 0; i < 10; i++) await host({key: "ArrowRight"});
check(step() > first, "the arrow key reads on");
await host({key: "/"});
check(document.activeElement.id === "tag-filter", "/ goes to the filter");
document.activeElement.blur();
await host({key: "?"});
check($("#keys").open, "? lists the keys");
$("#keys").close();

// -- CSV
const link = [...card("train/loss").querySelectorAll(".head button")].find(b => b.textContent === "csv");
check(link.getAttribute("aria-label") === "download as CSV: train/loss", "a button for CSV");
const csv = (await (await fetch(board.view.cards.get("train/loss").address())).text()).split("\r\n");
check(csv[0] === "Run,Wall time,Step,Value" && csv.length === 4 * 200 + 2 && csv[1].startsWith("trial_00,"), `CSV: ${csv.length} lines, ${csv[0]}`);
// -- names that are HTML stay names
const names = all("#runs bdi").map(b => b.textContent);
check(names.includes("<img src=x onerror=document.title='broken'>"), `names: ${names}`);
check(card("hostile/<img src=x onerror=document.title='broken'>") && !$("#main .card img, #main .card script, #runs img"), "no elements come from names");

// -- histograms in three forms
await tab("histograms");
const bias = await until("a histogram", () => card("layer1/bias"));
await until("it is drawn", () => pixels(bias.querySelector("canvas"), run.kinds) > 200);
for (const mode of ["overlay", "percentiles", "offset"]) {
  const old = bias.querySelector("canvas").toDataURL();
  $(`[data-value="${mode}"]`).click();
  await until(mode, () => bias.querySelector("canvas").toDataURL() !== old);
}

// -- pictures, sounds, text
await tab("images");
const picture = await until("a picture", () => { const i = $("#main img"); return i?.complete && i.naturalWidth === 16 && i; });
check(picture.src.includes("step=190"), "the latest one");
const slider = $("#main .slider input");
slider.value = 0;
slider.dispatchEvent(new Event("input"));
await until("the first one", () => $("#main img").src.includes("step=0&"));
await tab("audio");
await until("a sound", () => $("#main audio")?.src.includes("kind=audio"));
await tab("text");
await until("text", () => $('[data-run="kinds"] .prose strong')?.textContent === "dropout");
check(!$("#main img, #main script, #main a[href^=javascript]") && $("#main").textContent.includes("<img src=x"), "HTML in a text stays text");
check(all('[data-run="kinds"] .prose li').length === 2 && all('[data-run="kinds"] .prose td').length === 4, "a list and a table");

// -- graph: scopes open and close, shapes stand on the edges, nodes are found
await tab("graph");
const node = path => $(`#main [data-path="${path}"]`);
await until("the graph", () => node("layer1"));
const labels = () => all("#main .graph .label").map(t => t.textContent);
check(labels().includes("?×64") && labels().includes("?×10"), `shapes: ${labels()}`);
check(!node("layer1/MatMul") && node("layer1").getAttribute("aria-expanded") === "false", "closed at first");
node("layer1").focus();
await host({key: "Enter"});
await until("it opens by Enter", () => node("layer1/MatMul") && node("layer1").getAttribute("aria-expanded") === "true");
check(labels().includes("64×128"), "shapes inside");
node("layer1/MatMul").dispatchEvent(new MouseEvent("click", {bubbles: true}));
await until("what it is", () => $("#main .info h2").textContent === "layer1/MatMul" && $("#main .info").textContent.includes("?×128"));
check($("#main .info").textContent.includes("400 µs"), "its time in the profile");
node("layer1").dispatchEvent(new MouseEvent("dblclick", {bubbles: true}));
await until("it closes", () => !node("layer1/MatMul"));
type($("#graph-search"), "layer3/BiasAdd$");
await until("found", () => $("#main .info h2").textContent === "1 nodes");
$("#main .info li button").click();
await until("shown", () => node("layer3/BiasAdd")?.classList.contains("selected"));

// -- hyperparameters: the table sorts, the axes select
await tab("hparams");
const body = () => all("#main tbody tr").map(r => r.dataset.run);
await until("a table", () => body().length === 5);
check(!$("#main img") && $("#main th").parentElement.textContent.includes("<img"), "HTML stays text");
$('#runs input[data-run^="<img"]').click();
await until("the runs that are shown", () => body().length === 4);
const head = name => all("#main th button").find(b => b.textContent.startsWith(name));
head("rate").click();
check(body().join() === "trial_02,trial_01,trial_03,trial_00", `sorted: ${body()}`);
head("rate").click();
check(body().join() === "trial_00,trial_03,trial_01,trial_02", `and the other way: ${body()}`);
const axes = $("#main canvas"), box = axes.getBoundingClientRect();
await mouse("mousePressed", box.left + 46, box.top + 30); // the upper half of the first axis: the large rates
await mouse("mouseMoved", box.left + 46, box.top + 90, {buttons: 1});
await mouse("mouseMoved", box.left + 46, box.top + 125, {buttons: 1});
await mouse("mouseReleased", box.left + 46, box.top + 125);
await until("selected", () => all("#main tr.faded").map(r => r.dataset.run).sort().join() === "trial_01,trial_02");

// -- curves, embeddings, profile
await tab("curves");
await until("a curve", () => card("classes/digits") && pixels(card("classes/digits").querySelector("canvas"), run.kinds) > 50);
await tab("projector");
const cloud = await until("points", () => { const c = $("#main canvas"); return c && $("#main").textContent.includes("150 points") && pixels(c, "#e0682f") > 50 && c; });
const turned = cloud.toDataURL();
cloud.focus();
await host({key: "ArrowRight"});
await until("it turns", () => cloud.toDataURL() !== turned);
await tab("profile");
await until("where time goes", () => all("#main tbody tr")[0]?.textContent.startsWith("MatMul1.20 ms"));
await until("the verdict", () => $("#main").textContent.includes("kinds is input-bound: 38 % of the time waits for data"));
check($("#main").textContent.includes("33 kB, held by") && $("#main .legend").textContent.includes("layer1/MatMul"), "who holds memory");

// -- what comes while the page is open
await host({run: "more"});
await tab("scalars");
await until("a new run without a reload", () => all("#runs li").length === 8 && $('#runs input[data-run="trial_late"]'));
await until("its curve", () => { const c = card("train/loss")?.querySelector("canvas"); return c && pixels(c, colours().trial_late) > 10; });

// -- narrow: nothing is wider than the window
await host({size: [400, 700]});
await wait(300);
if ($("#side").offsetParent) $("#menu").click();
for (const key of keys) {
  await tab(key);
  await wait(120);
  check(document.documentElement.scrollWidth <= 400, `${key} is ${document.documentElement.scrollWidth} wide`);
}
check(document.title.includes("tfsdk board"), `nothing has run: ${document.title}`);
return "ok";
