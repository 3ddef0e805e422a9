// Numbers and words as people read them.

export const plainNumber = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;

/** The word of the command line for what stands in a field whose numbers are in `unit`. */
export function wordOf(text, unit, factor) {
  const bare = text.trim();
  if (!plainNumber.test(bare) || factor === 1) return bare;
  return bare + (/^\d/.test(unit) ? " " : "") + unit;
}

/** A few digits, without zeros at the end. */
export function digits(value, count = 5) {
  if (value === 0 || !Number.isFinite(value)) return String(value);
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-3) return value.toExponential(Math.min(count, 3) - 1).replace("e+", "e");
  return Number(value.toPrecision(count)).toString();
}

export const withUnit = (text, unit) => (unit ? `${text} ${unit}` : text);

/** `step` and the first of round numbers that divide a range into about `count` parts. */
export function ticks(low, high, count) {
  const raw = (high - low) / Math.max(count, 1);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((k) => k * power).find((s) => s >= raw * 0.999);
  const found = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; i++) found.push(i * step);
  const decimals = Math.max(0, Math.ceil(-Math.log10(step) + (String(step / power).includes(".") ? 1 : 0) - 1e-9));
  return found.map((at) => ({ at, text: decimals > 8 ? digits(at, 3) : String(Number(at.toFixed(decimals))) }));
}
