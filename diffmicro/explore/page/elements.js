// Elements of the page.

/** An element with attributes (`true`: there, `false`: not) and a text. */
export const make = (name, attributes = {}, text = "") => {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === true) made.setAttribute(key, "");
    else if (value !== false) made.setAttribute(key, value);
  }
  made.textContent = text;
  return made;
};

/** A name that may be broken behind its underscores. */
export function broken(home, name) {
  name.split(/(?<=_)/).forEach((part, i) => home.append(...(i ? [make("wbr"), part] : [part])));
  return home;
}
