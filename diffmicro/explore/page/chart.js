// Charts as SVG: axes with units, lines with gaps, marks. Positions are in pixels of the element, so text keeps its size.

import { digits, ticks, withUnit } from "./format.js";

const NAMESPACE = "http://www.w3.org/2000/svg";

export function shape(parent, name, attributes = {}, text = "") {
  const made = document.createElementNS(NAMESPACE, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text) made.textContent = text;
  parent.append(made);
  return made;
}

/**
 * Draw into an <svg>. x, y: {name, unit}; range: [low, high] of x; points: [{x, y, status}] in order of x;
 * here: {x, y} or null; marks: [{x, text, ends, breaks}]; height: pixels; flag: y jumps between whole numbers.
 * Returns the places of its axes, for pointers.
 */
export function draw(svg, { x, y, range, points, here = null, marks = [], height, flag = false, small = false }) {
  const width = Math.max(svg.clientWidth, 200);
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.setAttribute("height", height);
  svg.replaceChildren();
  const known = points.filter((p) => p.y !== null).map((p) => p.y);
  if (here && here.y !== null) known.push(here.y);
  const top = Math.max(1, ...known);
  const [low, high] = flag ? [Math.min(0, ...known) - 0.15 * top, 1.15 * top] : around(known);
  const upward = flag ? [0, top].map((at) => ({ at, text: String(at) })) : ticks(low, high, height / (small ? 34 : 48));
  const left = 14 + 7 * Math.max(...upward.map((t) => t.text.length), 2) + (small ? 0 : 14);
  const box = { left, right: width - 14, top: 12, bottom: height - (small ? 8 : 44) };
  const px = (v) => box.left + ((v - range[0]) / (range[1] - range[0])) * (box.right - box.left);
  const rows = stacked(marks, px, box);
  box.top += 15 * rows.count;
  const py = (v) => box.bottom - ((v - low) / (high - low)) * (box.bottom - box.top);
  const axes = shape(svg, "g", { class: "axes" });
  for (const t of upward) {
    shape(axes, "line", { x1: box.left, x2: box.right, y1: py(t.at), y2: py(t.at) });
    shape(axes, "text", { x: box.left - 6, y: py(t.at) + 4, "text-anchor": "end" }, t.text);
  }
  if (!small) {
    for (const t of ticks(range[0], range[1], width / 90)) {
      shape(axes, "line", { x1: px(t.at), x2: px(t.at), y1: box.top, y2: box.bottom });
      shape(axes, "text", { x: px(t.at), y: box.bottom + 16, "text-anchor": "middle" }, t.text);
    }
    const middle = (box.left + box.right) / 2;
    shape(axes, "text", { x: middle, y: height - 8, "text-anchor": "middle", class: "name" }, bracketed(x));
    const at = (box.top + box.bottom) / 2;
    shape(axes, "text", { x: 12, y: at, "text-anchor": "middle", class: "name", transform: `rotate(-90 12 ${at})` },
      bracketed(y));
  }
  drawMarks(svg, marks, rows.places, box);
  const breaks = [...marks.filter((mark) => mark.breaks).map((mark) => mark.x), ...(flag || small ? [] : jumps(points))];
  drawPoints(svg, points, px, py, box, flag, small ? 0 : 2, breaks);
  if (here && here.x >= range[0] && here.x <= range[1]) {
    const g = shape(svg, "g", { class: "here" });
    shape(g, "line", { x1: px(here.x), x2: px(here.x), y1: box.top, y2: box.bottom });
    if (here.y !== null) shape(g, "circle", { cx: px(here.x), cy: py(here.y), r: 5.5 });
  }
  return { box, px, py, value: (pixel) => range[0] + ((pixel - box.left) / (box.right - box.left)) * (range[1] - range[0]) };
}

const bracketed = (axis) => (axis.unit ? `${axis.name} [${axis.unit}]` : axis.name);

/** A range with some room around all values. */
function around(values) {
  if (!values.length) return [0, 1];
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const room = (high - low) * 0.08 || Math.abs(high) * 0.1 || 1;
  return [low - room, high + room];
}

/** Where a curve jumps from one motion to another: a step far above its span's share and both its neighbors. */
function jumps(points) {
  const ok = (p) => p && p.status === "ok" && p.y !== null;
  const step = (i) => (ok(points[i]) && ok(points[i + 1]) ? Math.abs(points[i + 1].y - points[i].y) : 0);
  const values = points.filter(ok).map((p) => p.y);
  const least = 0.2 * (Math.max(...values) - Math.min(...values));
  const beside = (i) => Math.max(step(i - 1), step(i + 1));
  return points.slice(1).map((p, i) => ({ x: (points[i].x + p.x) / 2, size: step(i), beside: beside(i) }))
    .filter(({ size, beside }) => size > least && size > 4 * beside && beside > 0).map(({ x }) => x);
}

/** A line through neighbors that are both ok and of one motion; others are single marks and no part of a curve. */
function drawPoints(svg, points, px, py, box, flag, dot, breaks) {
  let path = "";
  let joined = false;
  let last = null;
  const marks = shape(svg, "g", { class: "marks" });
  for (const p of points) {
    const ok = p.status === "ok" && p.y !== null;
    if (breaks.some((x) => last < x && x < p.x)) joined = false;
    last = p.x;
    if (ok) {
      if (!flag) shape(marks, "circle", { cx: px(p.x), cy: py(p.y), r: dot, class: "dot" });
      path += joined ? (flag ? `H${px(p.x).toFixed(1)}V${py(p.y).toFixed(1)}` : `L${px(p.x).toFixed(1)} ${py(p.y).toFixed(1)}`)
        : `M${px(p.x).toFixed(1)} ${py(p.y).toFixed(1)}`;
    } else if (p.y !== null) {
      shape(shape(marks, "circle", { cx: px(p.x), cy: py(p.y), r: 3.2, class: "other" }), "title", {}, p.status);
    } else {
      const [u, v] = [px(p.x), box.bottom - 6];
      shape(shape(marks, "path", { d: `M${u - 3} ${v - 3}l6 6m0 -6l-6 6`, class: "none" }), "title", {}, p.status);
    }
    joined = ok;
  }
  if (path) shape(svg, "path", { d: path, class: "line" });
}

/** Rows for labels above the axes, so that none covers another. */
function stacked(marks, px, box) {
  const rows = [];
  const places = marks.map((mark) => {
    const at = px(mark.x);
    const size = 6.3 * mark.text.length + 8;
    const right = at + size < box.right;
    const [low, high] = right ? [at, at + size] : [at - size, at];
    let row = rows.findIndex((taken) => taken.every(([a, b]) => high < a || low > b));
    if (row < 0) row = rows.push([]) - 1;
    rows[row].push([low, high]);
    return { at, right, row };
  });
  return { places, count: rows.length };
}

/** All lines first: those of upper labels pass behind the lower labels. */
function drawMarks(svg, marks, places, box) {
  const groups = (name) => marks.map(({ ends }) => shape(svg, "g", { class: ends ? `${name} ends` : name }));
  const [lines, labels] = [groups("mark"), groups("label")];
  marks.forEach((mark, i) => {
    const { at, right, row } = places[i];
    const y = box.top - 6 - 15 * row;
    shape(lines[i], "line", { x1: at, x2: at, y1: y - 9, y2: box.bottom });
    shape(labels[i], "text", { x: at + (right ? 4 : -4), y, "text-anchor": right ? "start" : "end" }, mark.text);
  });
}

/** What a chart shows, in a sentence. */
export function told({ x, y, range, points, here }) {
  const ok = points.filter((p) => p.status === "ok" && p.y !== null);
  if (!points.length) return "no curve yet";
  const values = ok.map((p) => p.y);
  const span = values.length
    ? `from ${digits(Math.min(...values))} to ${withUnit(digits(Math.max(...values)), y.unit)}` : "without a value";
  const now = here && here.y !== null
    ? `; here, at ${withUnit(digits(here.x), x.unit)}, ${withUnit(digits(here.y), y.unit)}` : "";
  return `${y.name} along ${x.name} from ${digits(range[0])} to ${withUnit(digits(range[1]), x.unit)}: ${span}, `
    + `${ok.length} of ${points.length} points ok${now}`;
}
