// The list of parameters: for each a field with its unit, a slider where it has a range, and whether it is free.

import { broken, make } from "./elements.js";
import { plainNumber, wordOf } from "./format.js";

/** All rows of a device. `changed(moving)` is called after each change; `moving` while a slider is held. */
export class Parameters {
  constructor(home, catalog, { changed, freed, wanted }) {
    this.rows = new Map();
    this.changed = changed;
    this.freed = freed;
    this.wanted = wanted;
    const wide = matchMedia("(min-width: 761px)").matches;
    home.replaceChildren(...catalog.groups.map((group, i) => this.#group(group, wide || i === 0)));
  }

  /** What differs from the published values, as words of the command line. */
  get words() {
    const found = {};
    for (const row of this.rows.values()) {
      const text = row.field.value.trim();
      if (text !== row.known.value) found[row.known.key] = text === "" ? "None" : this.#word(row);
    }
    return found;
  }

  set words(given) {
    for (const row of this.rows.values()) {
      const word = given[row.known.key];
      this.#show(row, word === undefined ? row.known.value : word === "None" ? "" : inUnit(word, row.known));
    }
  }

  /** Keys and bounds [SI] of the parameters that are free. */
  get free() {
    const chosen = [...this.rows.values()].filter((row) => row.free?.checked);
    return Object.fromEntries(chosen.map(({ known, slider }) =>
      [known.key, [Number(slider.min) / known.factor, Number(slider.max) / known.factor]]));
  }

  /** Put a number [SI] into a field. */
  put(key, value) {
    const row = this.rows.get(key);
    this.#show(row, String(Number((value * row.known.factor).toPrecision(7))));
  }

  /** A range that was found for a parameter that had none. */
  range(key, { range, unit, factor }) {
    const row = this.rows.get(key);
    row.known = { ...row.known, range, unit, factor };
    row.box.querySelector(".unit").textContent = unit;
    row.find?.remove();
    row.field.value = inUnit(row.field.value.trim(), row.known);
    this.#slide(row);
  }

  /** A message at one field, or at none. */
  complain(key, text) {
    for (const row of this.rows.values()) {
      const bad = row.known.key === key || row.known.of === key;
      row.field.setAttribute("aria-invalid", bad);
      row.error.textContent = bad ? text : "";
      if (bad) row.box.closest("details").open = true;
    }
    return this.rows.has(key);
  }

  #word(row) {
    return row.known.kind === "number" ? wordOf(row.field.value, row.known.unit, row.known.factor) : row.field.value.trim();
  }

  #group({ title, rows }, open) {
    const box = make("details", { open });
    box.append(make("summary", {}, `${title} (${rows.length})`));
    let last = "";
    for (const known of rows) {
      if (known.of && known.of !== last) box.append(make("h3", {}, known.of));
      last = known.of ?? "";
      box.append(this.#row(known));
    }
    return box;
  }

  #row(known) {
    const id = `p-${known.key}`;
    const box = make("div", { class: "row" });
    const label = broken(make("label", { for: id, title: known.meaning }), known.key);
    const field = known.kind === "word" ? this.#choice(known, id)
      : make("input", { id, autocomplete: "off", spellcheck: "false", size: "9",
        placeholder: known.value === "" ? "not given" : "", "aria-describedby": `${id}-hint ${id}-error` });
    field.value = known.value;
    const hint = make("p", { class: "unseen", id: `${id}-hint` }, `${known.meaning}${known.symbol ? ` (${known.symbol})` : ""}; `
      + `${known.allowed}`
      + `${known.unit && known.kind === "number" ? ` [${known.unit}]` : ""}.`
      + `${known.range ? ` Slider: ${known.range.how}.` : ""}`);
    // One place for all hints: rows that grew with the focus would move away under the pointer.
    for (const event of ["focusin", "pointerenter"]) {
      box.addEventListener(event, () => { document.getElementById("hint").textContent = `${known.key}: ${hint.textContent}`; });
    }
    const error = make("p", { class: "error", id: `${id}-error` });
    const row = { known, box, field, error };
    box.append(label, field, make("span", { class: "unit" }, known.kind === "number" ? known.unit : ""));
    this.rows.set(known.key, row);
    if (known.kind === "number") this.#slide(row);
    if (known.kind === "number" && !known.range && known.value === "0") {
      row.find = make("button", { type: "button", class: "find" }, "find a range");
      row.find.addEventListener("click", () => this.wanted(known.key));
      box.append(row.find);
    }
    box.append(hint, error);
    field.addEventListener("change", () => { this.#show(row, field.value); this.changed(false); });
    return box;
  }

  #choice(known, id) {
    const field = make("select", { id, "aria-describedby": `${id}-hint ${id}-error` });
    if (known.value === "") field.append(make("option", { value: "" }, "as usual"));
    for (const word of known.words) field.append(make("option", {}, word));
    return field;
  }

  #slide(row) {
    const { known, box, field } = row;
    if (!known.range || row.slider) return;
    const slider = make("input", { type: "range", min: known.range.low, max: known.range.high, step: "any",
      "aria-label": `${known.key} slider`, title: known.range.how });
    slider.addEventListener("input", () => {
      field.value = String(Number(Number(slider.value).toPrecision(4)));
      this.#describe(row);
      this.changed(true);
    });
    slider.addEventListener("change", () => this.changed(false));
    slider.addEventListener("keydown", (event) => this.#key(event, row));
    const free = make("input", { type: "checkbox", id: `free-${known.key}` });
    free.addEventListener("change", () => this.freed());
    const freeLabel = make("label", { class: "free", for: free.id, title: "free in a search, within its slider" }, "free");
    freeLabel.prepend(free);
    freeLabel.append(make("span", { class: "unseen" }, ` in a search: ${known.key}`));
    box.insertBefore(slider, box.querySelector(".unit").nextSibling);
    slider.after(freeLabel);
    Object.assign(row, { slider, free });
    this.#show(row, field.value);
  }

  /** Arrows move by a hundredth of the range; the browser's own step would be one. */
  #key(event, { slider }) {
    const way = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10 }[event.key];
    if (!way) return;
    event.preventDefault();
    const step = (Number(slider.max) - Number(slider.min)) / 100;
    slider.value = Number(slider.value) + way * step;
    slider.dispatchEvent(new Event("input"));
  }

  #show(row, text) {
    const { known, field, slider, box } = row;
    field.value = text;
    box.classList.toggle("changed", text.trim() !== known.value);
    if (!slider || !plainNumber.test(text.trim())) return;
    const value = Number(text);
    // A number beyond the slider's ends takes the end along.
    if (value > Number(slider.max)) slider.max = value;
    if (value < Number(slider.min)) slider.min = value;
    slider.value = value;
    this.#describe(row);
  }

  #describe({ known, field, slider, box }) {
    slider.setAttribute("aria-valuetext", `${field.value} ${known.unit}`.trim());
    box.classList.toggle("changed", field.value !== known.value);
  }
}

/** A word in a field's own unit as the number alone; any other word as it is. */
function inUnit(word, known) {
  const unit = known.unit;
  if (unit && word.endsWith(unit) && plainNumber.test(word.slice(0, -unit.length).trim())) {
    return word.slice(0, -unit.length).trim();
  }
  if (plainNumber.test(word) && known.kind === "number" && known.factor !== 1) {
    return String(Number((Number(word) * known.factor).toPrecision(12)));
  }
  return word;
}
