// Text: Markdown as it is commonly written, tables for strings with two axes.
import {cardsView, cardFor} from "./cards.js";
import {clock, el, fill, get} from "./util.js";

// Only elements are made, never HTML from the text: a log may come from anybody.
function inline(text) {
  const out = [], pattern = /`([^`]+)`|\*\*(.+?)\*\*|__(.+?)__|\*([^*\s][^*]*)\*|_([^_\s][^_]*)_|\[([^\]]+)\]\((https?:[^)\s]+)\)/g;
  let last = 0;
  for (const m of text.matchAll(pattern)) {
    out.push(text.slice(last, m.index));
    last = m.index + m[0].length;
    if (m[1]) out.push(el("code", {}, m[1]));
    else if (m[2] || m[3]) out.push(el("strong", {}, inline(m[2] || m[3])));
    else if (m[4] || m[5]) out.push(el("em", {}, inline(m[4] || m[5])));
    else out.push(el("a", {href: m[7], rel: "noopener noreferrer", target: "_blank"}, m[6]));
  }
  out.push(text.slice(last));
  return out;
}
export function markdown(text) {
  const out = [], lines = text.replace(/\r/g, "").split("\n");
  for (let i = 0; i < lines.length;) {
    const line = lines[i], head = line.match(/^(#{1,6})\s+(.*)/);
    const take = test => { const from = i; while (i < lines.length && test(lines[i])) i++; return lines.slice(from, i); };
    if (/^```/.test(line)) {
      i++;
      out.push(el("pre", {}, take(l => !/^```/.test(l)).join("\n")));
      i++;
    } else if (/^( {4}|\t)/.test(line)) out.push(el("pre", {}, take(l => /^( {4}|\t)/.test(l)).map(l => l.replace(/^( {4}|\t)/, "")).join("\n")));
    else if (head) { out.push(el(`h${Math.min(6, head[1].length + 2)}`, {}, inline(head[2]))); i++; }
    else if (/^\s*[-*+]\s+/.test(line)) out.push(el("ul", {}, take(l => /^\s*[-*+]\s+/.test(l)).map(l => el("li", {}, inline(l.replace(/^\s*[-*+]\s+/, ""))))));
    else if (/^\s*\d+[.)]\s+/.test(line)) out.push(el("ol", {}, take(l => /^\s*\d+[.)]\s+/.test(l)).map(l => el("li", {}, inline(l.replace(/^\s*\d+[.)]\s+/, ""))))));
    else if (/^\s*\|.*\|\s*$/.test(line)) {
      const rows = take(l => /^\s*\|.*\|\s*$/.test(l)).map(l => l.trim().slice(1, -1).split("|").map(s => s.trim()));
      const titled = rows[1]?.every(c => /^:?-+:?$/.test(c));
      out.push(el("table", {}, rows.filter((_, k) => !(titled && k === 1)).map((r, k) => el("tr", {}, r.map(c => el(titled && k === 0 ? "th" : "td", {}, inline(c)))))));
    } else if (/^>\s?/.test(line)) out.push(el("blockquote", {}, inline(take(l => /^>\s?/.test(l)).map(l => l.replace(/^>\s?/, "")).join(" "))));
    else if (!line.trim()) i++;
    else out.push(el("p", {}, inline(take(l => l.trim() && !/^(#{1,6}\s|```|\s*[-*+]\s|>|\s*\|)/.test(l) || l === line).join("\n"))));
  }
  return out;
}
function content(s) {
  if (s.shape.length === 2) {
    const [rows, columns] = s.shape;
    return el("table", {}, Array.from({length: rows}, (_, r) => el("tr", {}, Array.from({length: columns}, (_, k) => el("td", {}, inline(s.text[r * columns + k]))))));
  }
  if (s.shape.length === 1 && s.text.length > 1) return el("table", {}, s.text.map(t => el("tr", {}, el("td", {}, inline(t)))));
  return s.text.map(markdown);
}

export default cardsView({label: "Text", kind: "text", make(app, run, tag) {
  const place = el("div", {class: "prose", tabindex: 0}), card = {root: cardFor(run, tag, place)};
  card.root.classList.add("wide");
  card.load = async () => {
    const {steps} = await get("text", {run, tag, steps: 30});
    fill(place, ...steps.reverse().flatMap(s => [el("div", {class: "stepline", title: clock(s.wall)}, `step ${s.step}`), content(s)]).flat());
  };
  return card;
}});
