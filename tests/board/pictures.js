// Pictures of the board for the documentation (docs/pictures), of what `make demo` writes:
//     SCRIPT=pictures.js LOGS=build/demo SCREENSHOTS=docs/pictures sh tests/board/browser.sh build/bin/tfsdk build/tests/board_browser
const wait = ms => new Promise(r => setTimeout(r, ms));
const $ = s => document.querySelector(s);
async function until(what, test) {
  for (let i = 0; i < 200; i++) {
    if (await test()) return;
    await wait(50);
  }
  throw new Error(`it did not come: ${what}`);
}
async function show(key, ready = () => true) {
  $(`#tab-${key}`).click();
  await until(key, () => $(`#tab-${key}`)?.getAttribute("aria-selected") === "true" && $("#main").children.length && ready());
  await wait(700);
}
const press = path => $(`#main [data-path="${path}"]`).dispatchEvent(new MouseEvent("dblclick", {bubbles: true}));

await host({size: [1100, 690]});
await until("the runs", () => $("#tab-profile"));
const theme = async name => { while (document.documentElement.dataset.theme !== name) { $("#theme").click(); await wait(50); } };
const picture = name => host({screenshot: `board_${name}.png`});
await theme("light");
await show("scalars");
await picture("scalars");
await show("graph", () => $("#main [data-path=conv2]"));
press("conv2");
await wait(600);
await picture("graph");
await show("projector", () => $("#main canvas"));
await picture("projector");
await host({size: [1100, 430]}); // large areas of noise make large files
await show("histograms");
await picture("histograms");
await host({size: [1100, 690]});
await theme("dark");
await show("profile", () => $("#main tbody tr"));
await wait(500);
$("#main").scrollTop = $("#main article.card.wide").offsetTop - 130;
await wait(400);
await picture("profile");
return "ok";
