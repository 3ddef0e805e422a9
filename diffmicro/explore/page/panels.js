// What is shown beside the curve: responses, drawing, motion, elasticities, boundaries, the search's result.

import { draw } from "./chart.js";
import { digits, withUnit } from "./format.js";
import { broken, make } from "./elements.js";

export const $ = (id) => document.getElementById(id);

const cells = (row, tag, texts) => texts.forEach((text) => row.append(make(tag, {}, text)));

/** A table from texts; the first column names the row. */
export function table(home, head, rows) {
  const top = make("tr");
  head.forEach((text) => top.append(make("th", { scope: "col" }, text)));
  home.replaceChildren(top, ...rows.map(([name, ...texts]) => {
    const row = make("tr");
    row.append(broken(make("th", { scope: "row" }), name));
    cells(row, "td", texts);
    return row;
  }));
}

/** All responses; a number that is not there is said, never left out. */
export function showResponses(known, here) {
  const asked = (one) => one.asked && here.table[one.name].value === null;
  table($("table"), ["response", "value"], known.map((one) =>
    [one.name, asked(one) ? "on request: choose it" : here.table[one.name].text || "no value"]));
  [...$("table").rows].slice(1).forEach((row, i) => { row.title = known[i].meaning; });
  $("notes").replaceChildren(...here.notes.map((text) => make("li", {}, text)));
}

export function showStatus(here, response) {
  const found = here.table[response];
  $("value").textContent = found.text ? `${response} ${found.text}` : `${response}: no value`;
  $("status").textContent = here.status;
  $("status").className = `pill ${here.status === "ok" ? "good" : "bad"}`;
  say($("message"), here.message);
}

/** A text, only where it changes, so that it is read out once. */
export function say(home, text) {
  if (home.textContent !== text) home.textContent = text;
}

let picture = null;

export function showDrawing({ svg, text }) {
  if (picture) URL.revokeObjectURL(picture);
  picture = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  Object.assign($("picture"), { src: picture, alt: text, hidden: false });
  Object.assign($("large-picture"), { src: picture, alt: text });
  $("enlarge").disabled = false;
  say($("drawing-note"), "");
}

export function hideDrawing(text) {
  $("picture").hidden = true;
  $("enlarge").disabled = true;
  say($("drawing-note"), text);
}

/** The motion: one small chart for each quantity, a time that moves along, values there. */
export class Motion {
  constructor() {
    this.curves = [];
    this.axis = null;
    $("time").addEventListener("input", () => this.#at());
    $("play").addEventListener("click", () => this.#play(!this.timer));
  }

  begin(axis) {
    this.axis = axis;
    this.curves = [];
    $("traces").replaceChildren();
    $("time").max = axis.values.length - 1;
    $("time-name").textContent = axis.name;
    $("time").closest("label").hidden = false;
    $("play").disabled = false;
    say($("motion-note"), "");
  }

  add(curve) {
    const box = make("figure");
    const name = make("figcaption", {}, curve.unit ? `${curve.name} [${curve.unit}]` : curve.name);
    const value = make("output");
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("role", "img");
    svg.setAttribute("class", "plot");
    const seen = curve.values.filter((v) => v !== null);
    svg.setAttribute("aria-label", `${curve.name} over ${this.axis.name}, from `
      + `${digits(Math.min(...seen))} to ${withUnit(digits(Math.max(...seen)), curve.unit)}`);
    name.append(value);
    box.append(name, svg);
    $("traces").append(box);
    this.curves.push({ ...curve, svg, value });
    this.#draw(this.curves.at(-1));
    this.#at();
  }

  none(text) {
    this.#play(false);
    this.curves = [];
    $("traces").replaceChildren();
    $("time").closest("label").hidden = true;
    $("play").disabled = true;
    say($("motion-note"), text);
  }

  redraw() {
    this.curves.forEach((curve) => this.#draw(curve));
    this.#at();
  }

  #draw(curve) {
    const x = this.axis.values;
    curve.places = draw(curve.svg, {
      x: this.axis, y: curve, range: [x[0], x.at(-1)], height: curve.flag ? 44 : 78, flag: curve.flag, small: true,
      points: x.map((at, i) => ({ x: at, y: curve.values[i], status: "ok" })),
    });
    curve.cursor = curve.svg.appendChild(document.createElementNS("http://www.w3.org/2000/svg", "line"));
    curve.cursor.setAttribute("class", "cursor");
  }

  #at() {
    if (!this.axis) return;
    const i = Math.min(Number($("time").value), this.axis.values.length - 1);
    const at = this.axis.values[i];
    $("time-value").textContent = withUnit(digits(at, 4), this.axis.unit);
    $("time").setAttribute("aria-valuetext", $("time-value").textContent);
    for (const { places, cursor, value, values, unit } of this.curves) {
      const { px, box } = places;
      for (const [key, v] of Object.entries({ x1: px(at), x2: px(at), y1: box.top, y2: box.bottom })) cursor.setAttribute(key, v);
      value.textContent = values[i] === null ? "no value" : withUnit(digits(values[i], 4), unit);
    }
  }

  #play(on) {
    clearInterval(this.timer);
    this.timer = on ? setInterval(() => {
      const time = $("time");
      const size = Number(time.max) + 1;
      time.value = (Number(time.value) + Math.max(1, Math.round(size / 160))) % size;
      this.#at();
    }, 50) : null;
    $("play").textContent = on ? "Pause" : "Play";
    $("play").setAttribute("aria-pressed", Boolean(on));
  }
}

const SHOWN = 12;

/** Elasticities as bars, the strongest first; the verdict is a word and a pattern, not a color alone. */
export function showBars(home, entries) {
  const size = (e) => Math.abs(e.elasticity ?? 0);
  const sorted = [...entries].sort((a, b) => size(b) - size(a));
  const largest = Math.max(...sorted.map(size), 1e-12);
  const rows = sorted.map((e) => {
    const row = make("tr", { title: e.reason });
    row.append(broken(make("th", { scope: "row" }), e.key));
    const track = make("td", { class: "track" });
    const bar = make("div", { class: `bar ${e.verdict} ${(e.elasticity ?? 0) < 0 ? "minus" : "plus"}` });
    bar.style.width = `${(50 * size(e)) / largest}%`;
    track.append(bar);
    row.append(track, make("td", { class: "number" }, e.elasticity === null ? "refused" : `${digits(e.elasticity, 3)} %`));
    row.append(make("td", { class: `verdict ${e.verdict}` }, e.verdict));
    return row;
  });
  const bars = make("table", { class: "bars" });
  bars.append(...rows.slice(0, SHOWN));
  home.replaceChildren(bars);
  if (rows.length > SHOWN) {
    const more = make("button", { type: "button" }, `${rows.length - SHOWN} weaker ones`);
    more.addEventListener("click", () => { bars.append(...rows); more.remove(); });
    home.append(more);
  }
  const why = new Map();
  for (const e of sorted) if (e.verdict !== "certified") why.set(e.reason, [...(why.get(e.reason) ?? []), e.key]);
  const list = make("ul", { class: "reasons" });
  for (const [reason, keys] of why) list.append(make("li", {}, `${keys.join(", ")}: ${reason}`));
  home.append(list);
}

export function showBoundaries(found, along) {
  $("boundaries").replaceChildren(...found.map((b) => make("li", {},
    `${b.kind.replaceAll("_", " ")} at ${along} = ${b.text}, ${digits(100 * b.distance, 2)} % away`
    + `${b.ends ? "; the motion ends there" : ""}${b.beyond ? `; beyond it: ${b.beyond}` : ""}. ${b.verdict}`
    + `${b.verdict === "certified" ? "" : `: ${b.reason}`}`)));
}

export function showFound(result, response) {
  table($("search-table"), ["", "before", "after"], [
    [response, result.before, result.after],
    ...result.variables.map((v) => [v.key, v.before, v.after + (v.held ? ` (at its ${v.held} bound)` : "")]),
  ]);
  const verdict = result.verdict ? ` Gradient there: ${result.verdict}.` : "";
  say($("search-note"), `${result.status}: ${result.reason.replace(/\.?$/, ".")}${verdict} ${result.evaluations} evaluations. ${result.notes.join(" ")}`);
}
