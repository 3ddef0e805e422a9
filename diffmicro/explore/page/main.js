// The page: state, what is asked when it changes, and where answers go.

import { draw, told } from "./chart.js";
import { digits, withUnit } from "./format.js";
import { $, hideDrawing, Motion, say, showBars, showBoundaries, showDrawing, showFound, showResponses, showStatus }
  from "./panels.js";
import { make } from "./elements.js";
import { Parameters } from "./parameters.js";
import { ask, end } from "./questions.js";

const REFUSED = "not calculated";
const DEPENDENT = ["curve-plot", "curve-table", "table", "traces", "picture"]; // dimmed where a value is refused
const PAUSE = 180; // milliseconds after which motion and drawing follow the curve

let catalog = null;
let parameters = null;
let copies = { command: "", python: "" };
let later = 0;
const motion = new Motion();
const curve = { key: "", points: [], axis: null, unit: { factor: 1, unit: "" }, marks: [], here: null, places: null };
const found = { search: null, question: null };

/** The state as it stands in the address: device, response, axis, and a word for each value that was changed. */
function question() {
  return {
    device: $("device").value, response: $("response").value, along: $("along").value,
    low: $("low").value.trim(), high: $("high").value.trim(), words: words(),
  };
}

const words = () => (catalog.methods.length && $("p-method").value !== catalog.methods[0]
  ? { ...parameters.words, method: $("p-method").value } : parameters.words);

function keep() {
  const { device, response, along, low, high, words: own } = question();
  const state = new URLSearchParams({ device, response, along, low, high });
  for (const [key, word] of Object.entries(own)) state.append("w", `${key}=${word}`);
  history.replaceState(null, "", `#${state}`);
}

/** State and words from the address. */
function kept() {
  const state = new URLSearchParams(location.hash.slice(1));
  const pairs = state.getAll("w").map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)]);
  return { ...Object.fromEntries(state), words: Object.fromEntries(pairs) };
}

/** Nothing of another device stays. */
function clear() {
  Object.assign(curve, { key: "", points: [], axis: null, marks: [], here: null, places: null });
  found.search = null;
  for (const id of ["curve-plot", "curve-table", "table", "notes", "bars", "boundaries", "search-table"]) {
    $(id).replaceChildren();
    $(id).classList.remove("stale");
  }
  for (const id of ["value", "status", "message", "curve-note", "search-note", "judge-note"]) say($(id), "");
  $("curve-plot").setAttribute("aria-label", "no curve yet");
  $("search-tools").hidden = true;
}

async function load(state) {
  clear();
  busy("loading");
  const last = await ask("device", { device: state.device ?? "" }, (line) => {
    catalog = line.catalog;
    if (!Object.keys(state.words).length && !state.response) state = { ...state, words: line.words };
    $("device").replaceChildren(...line.devices.map((name) => make("option", {}, name)));
  });
  if (!last || last.error) return trouble(last);
  $("device").value = catalog.reference;
  $("title").textContent = `${catalog.title}. Source: ${catalog.source}.`;
  document.title = `${catalog.name} - diffmicro explore`;
  parameters = new Parameters($("groups"), catalog, { changed, freed: showFree, wanted: findRange });
  addMethods(state.words.method);
  parameters.words = state.words;
  $("response").replaceChildren(...catalog.responses.map((one) =>
    make("option", { value: one.name, title: one.meaning }, one.name + (one.asked ? " (on request)" : ""))));
  $("response").value = catalog.responses.some((one) => one.name === state.response) ? state.response : await firstNumber();
  const numbers = [...parameters.rows.values()].filter((row) => row.known.kind === "number" && row.known.value !== "");
  $("along").replaceChildren(...numbers.map((row) => make("option", {}, row.known.key)));
  $("along").value = numbers.some((row) => row.known.key === state.along) ? state.along : catalog.along;
  $("judge").disabled = false;
  say($("judge-note"), "Percent of the response for one percent of each parameter, each with a certificate. "
    + "It costs some seconds, more where it is compiled first.");
  $("find-boundaries").disabled = !catalog.bounded;
  say($("boundaries-note"), catalog.bounded ? "" : "This device states no boundaries.");
  motion.none("");
  axisEnds(state.low, state.high);
  showFree();
  if (!$("low").value && parameters.rows.get($("along").value)?.find) return findRange($("along").value);
  changed(false);
}

/** The first response that is a single number: only its calculation tells. */
async function firstNumber() {
  let name = catalog.responses[0].name;
  await ask("curve", { device: catalog.reference, only: "here", words: words() }, (line) => {
    if (line.note) busy(line.note);
    if (line.here) name = catalog.responses.find((one) => !Array.isArray(line.here.table[one.name].value))?.name ?? name;
  });
  return name;
}

function addMethods(chosen) {
  if (!catalog.methods.length) return;
  const box = make("div", { class: "row" });
  const field = make("select", { id: "p-method" });
  catalog.methods.forEach((name) => field.append(make("option", {}, name)));
  field.value = chosen ?? catalog.methods[0];
  field.addEventListener("change", () => changed(false));
  box.append(make("label", { for: "p-method", title: "numerical method" }, "method"), field);
  $("groups").lastElementChild.append(box);
}

/** The ends of the axis: as given, else those of the slider. */
function axisEnds(low, high) {
  const row = parameters.rows.get($("along").value);
  const word = (end) => (row.slider ? withUnit(String(Number(Number(row.slider[end]).toPrecision(6))), row.known.unit) : "");
  $("low").value = low || word("min");
  $("high").value = high || word("max");
}

/** Everything that depends on the point follows: the curve at once, motion and drawing after a pause. */
function changed() {
  stale();
  keep();
  askCurve();
  clearTimeout(later);
  later = setTimeout(() => { askMotion(); askDrawing(); }, PAUSE);
}

/** What belongs to another point is marked as such. */
function stale() {
  for (const id of ["bars", "boundaries", "search-table"]) if ($(id).hasChildNodes()) $(id).classList.add("stale");
  if ($("bars").hasChildNodes()) say($("judge-note"), "Of the values before; ask again.");
  if (curve.marks.length) { curve.marks = []; say($("boundaries-note"), "Of the values before; ask again."); }
}

let clock = 0;

/** Says what goes on, with seconds where it takes some. */
function busy(text) {
  clearInterval(clock);
  const began = Date.now();
  const tell = () => { const s = Math.round((Date.now() - began) / 1000); $("busy").textContent = text && `${text}${s ? ` ${s} s` : ""}`; };
  tell();
  if (text) clock = setInterval(tell, 1000);
}

/** What is wrong, at its field where it has one. */
function trouble(last) {
  busy("");
  if (!last || !last.error) return false;
  const at = parameters?.complain(last.key, last.error);
  $("status").textContent = REFUSED;
  $("status").className = "pill bad";
  $("value").textContent = "";
  for (const id of DEPENDENT) $(id).classList.add("stale");
  say($("message"), at ? `${last.key}: see its field. ${last.error}` : last.error);
  for (const id of ["copy-command", "copy-python"]) $(id).disabled = true;
  return true;
}

async function askCurve() {
  const asked = question();
  const { [asked.along]: own, ...others } = asked.words;
  const key = JSON.stringify([{ ...asked, words: others }]);
  // Along its own axis the point moves on a curve that is known.
  const whole = key === curve.key;
  if (whole) asked.only = "here";
  busy("calculating");
  const last = await ask("curve", asked, (line) => {
    if (line.note) busy(line.note);
    if (line.here) showHere(line, asked);
    if (line.axis) beginCurve(line);
    if (line.unit) curve.unit = line.unit;
    if ("x" in line) { curve.points.push(line); busy(""); drawSoon(); }
  });
  if (!last) return;
  if (trouble(last)) { if (!whole) { curve.key = ""; if (last.key === "response") drawNone(last.error); } return; }
  if (last.end === "replaced") say($("message"), "Another page asked the same server; change something to ask again.");
  else curve.key = key;
  drawCurve();
  fillTable();
}

function showHere(line, asked) {
  parameters.complain("", "");
  copies = line.copy;
  for (const id of ["copy-command", "copy-python"]) $(id).disabled = false;
  showStatus(line.here, asked.response);
  showResponses(catalog.responses, line.here);
  for (const option of $("response").options) option.disabled = Array.isArray(line.here.table[option.value].value);
  for (const id of DEPENDENT) $(id).classList.remove("stale");
  const y = line.here.table[asked.response].value;
  curve.here = line.here.at === null || Array.isArray(y) ? null : { x: line.here.at, y };
  if (asked.only) drawCurve();
}

function beginCurve(line) {
  Object.assign(curve, { key: "", points: [], axis: line.axis, unit: line.unit, response: line.response });
}

let drawing = 0;
function drawSoon() { drawing ||= requestAnimationFrame(() => { drawing = 0; drawCurve(); }); }

function shown() {
  const { axis, unit } = curve;
  const y = (value) => (value === null ? null : value * unit.factor);
  return {
    x: { name: axis.key, unit: axis.unit }, y: { name: curve.response, unit: unit.unit },
    range: [axis.low * axis.factor, axis.high * axis.factor],
    points: curve.points.map((p) => ({ x: p.x * axis.factor, y: y(p.y), status: p.status })).sort((a, b) => a.x - b.x),
    here: curve.here && { x: curve.here.x * axis.factor, y: y(curve.here.y) },
    marks: curve.marks.map((b) => ({ x: b.at * axis.factor, text: b.kind.replaceAll("_", " "), ends: b.ends,
      breaks: b.ends || b.kind === "start_lost" })),
    height: 300,
  };
}

function drawCurve() {
  if (!curve.axis) return;
  const what = shown();
  curve.places = draw($("curve-plot"), what);
  $("curve-plot").setAttribute("aria-label", told(what));
  const others = new Map();
  for (const p of what.points) if (p.status !== "ok") others.set(p.status, (others.get(p.status) ?? 0) + 1);
  const parts = [...others].map(([status, count]) => `${status} at ${count} of ${what.points.length} points`);
  say($("curve-note"), parts.length ? `${parts.join(", ")}: a circle has a value, a cross has none.` : "");
}

function drawNone(text) {
  curve.axis = null;
  $("curve-plot").replaceChildren();
  say($("curve-note"), text);
}

function fillTable() {
  const { x, y, points } = shown();
  const head = [`${x.name}${x.unit && ` [${x.unit}]`}`, `${y.name}${y.unit && ` [${y.unit}]`}`, "status"];
  const rows = points.map((p) => [digits(p.x), p.y === null ? "no value" : digits(p.y), p.status]);
  const top = make("tr");
  head.forEach((text) => top.append(make("th", { scope: "col" }, text)));
  $("curve-table").replaceChildren(top, ...rows.map((texts) => {
    const row = make("tr");
    texts.forEach((text) => row.append(make("td", {}, text)));
    return row;
  }));
}

const refused = () => $("status").textContent === REFUSED;

async function askMotion() {
  if (!catalog.moves) return motion.none("This device has no motion to look at (simulate).");
  if (!$("traces").hasChildNodes()) say($("motion-note"), "calculating ...");
  const last = await ask("motion", question(), (line) => {
    if (line.axis) motion.begin(line.axis);
    if (line.curve) motion.add(line.curve);
  });
  if (last?.error) motion.none(refused() ? "See the message above the curve." : last.error);
}

async function askDrawing() {
  if (!catalog.draws) return hideDrawing("This device states no geometry, so there is nothing to draw.");
  if ($("picture").hidden) say($("drawing-note"), "drawing ...");
  const last = await ask("drawing", question(), showDrawing);
  if (last?.error) hideDrawing(refused() ? "See the message above the curve." : last.error);
}

async function findRange(key) {
  busy("finding a range");
  const last = await ask("reach", { ...question(), along: key, low: "", high: "" }, (line) => {
    if (line.note) busy(line.note);
    if (line.range) parameters.range(key, line);
  });
  if (last?.error) { trouble(last); return; }
  if ($("along").value === key) axisEnds();
  changed();
}

async function judge() {
  const entries = [];
  const asked = question();
  $("judge").disabled = true;
  const timer = counting($("judge-note"), "calculating");
  let whole = "";
  const last = await ask("elasticities", asked, (line) => {
    if (line.note) timer.text = line.note;
    if ("key" in line) entries.push(line);
    else if (line.verdict) whole = `${asked.response} in percent for one percent of a parameter. As a whole: ${line.verdict}. ${line.reason}`
      + (line.status === "ok" ? "" : ` Status: ${line.status}. ${line.message}`);
  });
  timer.stop();
  $("judge").disabled = false;
  if (!last) return;
  say($("judge-note"), last.error ?? (last.end === "replaced" ? "Replaced by a newer question." : whole));
  if (last.error) return;
  showBars($("bars"), entries);
  $("bars").classList.toggle("stale", JSON.stringify(asked) !== JSON.stringify(question()));
}

async function findBoundaries() {
  const asked = question();
  const marks = [];
  $("find-boundaries").disabled = true;
  const timer = counting($("boundaries-note"), "searching");
  const last = await ask("boundaries", asked, (line) => { if (line.kind) marks.push(line); });
  timer.stop();
  $("find-boundaries").disabled = false;
  if (!last) return;
  const same = JSON.stringify(asked) === JSON.stringify(question());
  say($("boundaries-note"), last.error ?? (same ? `${marks.length || "no"} boundaries between the ends of the axis` : "Of the values before; ask again."));
  showBoundaries(marks, asked.along);
  $("boundaries").classList.toggle("stale", !same);
  curve.marks = same ? marks : [];
  drawCurve();
}

/** Counts seconds beside a text until it is stopped. */
function counting(home, text) {
  const began = Date.now();
  const timer = { text };
  const tell = () => { home.textContent = `${timer.text} ... ${Math.round((Date.now() - began) / 1000)} s`; };
  tell();
  const beat = setInterval(tell, 1000);
  timer.stop = () => clearInterval(beat);
  return timer;
}

function showFree() {
  const keys = Object.keys(parameters.free);
  $("goal-response").textContent = $("response").value;
  say($("free-note"), keys.length ? `Free: ${keys.join(", ")}, each within its slider.`
    : "Mark parameters as free in their list; each moves within its slider.");
}

async function search(event) {
  event.preventDefault();
  const asked = { ...question(), goal: $("goal").value, budget: Number($("budget").value), free: parameters.free };
  $("search-go").disabled = true;
  $("search-stop").disabled = false;
  const timer = counting($("search-note"), "calculating");
  found.search = null;
  const last = await ask("search", asked, (line) => {
    if (line.note) timer.text = line.note;
    if (line.evaluations && line.budget) timer.text = `${line.evaluations} of ${line.budget} evaluations`;
    if (line.status) { found.search = line; found.question = asked; }
  });
  timer.stop();
  $("search-go").disabled = false;
  $("search-stop").disabled = true;
  $("search-tools").hidden = !found.search;
  if (!last) return;
  if (found.search) showFound(found.search, asked.response);
  else say($("search-note"), last.error || "Stopped before the first design.");
  $("search-table").classList.remove("stale");
}

function take() {
  for (const { key, value } of found.search.variables) parameters.put(key, value);
  changed();
}

async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    say($("copied"), `${what} copied`);
  } catch {
    window.prompt(`${what}: copy it from here`, text);
  }
  setTimeout(() => say($("copied"), ""), 3000);
}

function afterChoice(event) {
  if (event.target.id === "along") axisEnds();
  showFree();
  const row = parameters.rows.get($("along").value);
  if (!$("low").value && row.find) return findRange($("along").value);
  changed();
}

$("device").addEventListener("change", () => load({ device: $("device").value, words: {} }));
for (const id of ["response", "along", "low", "high"]) $(id).addEventListener("change", afterChoice);
$("reset").addEventListener("click", () => { parameters.words = {}; changed(); });
$("judge").addEventListener("click", judge);
$("find-boundaries").addEventListener("click", findBoundaries);
$("search-form").addEventListener("submit", search);
$("enlarge").addEventListener("click", () => $("large").showModal());
$("search-stop").addEventListener("click", () => end("search"));
$("search-take").addEventListener("click", take);
$("search-copy").addEventListener("click", () => copy(found.search.command, "Command"));
$("copy-link").addEventListener("click", () => copy(location.href, "Link"));
$("copy-command").addEventListener("click", () => copy(copies.command, "Command"));
$("copy-python").addEventListener("click", () => copy(copies.python, "Python"));
$("curve-plot").addEventListener("click", (event) => {
  if (!curve.places || !curve.axis) return;
  const x = curve.places.value(event.clientX - $("curve-plot").getBoundingClientRect().left);
  const { low, high, factor, key } = curve.axis;
  const value = Math.min(Math.max(x / factor, low), high);
  parameters.put(key, Number(value.toPrecision(4)));
  changed();
});
new ResizeObserver(() => { drawSoon(); motion.redraw(); }).observe($("results"));
window.addEventListener("hashchange", () => load(kept()));
load(kept());
