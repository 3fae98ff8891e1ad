// Real selects, check boxes, sliders and buttons, each with its label.

let counted = 0;
const node = (tag, attributes = {}, ...children) => {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
};

const labelled = (parent, text, control) => {
  control.id = `control-${(counted += 1)}`;
  const label = node("label", { for: control.id }, text);
  parent.append(node("span", { class: "control" }, label, control));
  return control;
};

// `options`: [value, text] each, or [value, text, group].
const choice = (parent, text, options, value, change) => {
  const select = labelled(parent, text, node("select"));
  const groups = {};
  for (const [key, said, group] of options) {
    if (group && !groups[group]) select.append((groups[group] = node("optgroup", { label: group })));
    (groups[group] || select).append(node("option", { value: key }, said));
  }
  select.value = String(value);
  select.addEventListener("change", () => change(select.value));
  return select;
};

const box = (parent, text, isOn, change, mark) => {
  const input = node("input", { type: "checkbox" });
  input.checked = isOn;
  input.addEventListener("change", () => change(input.checked));
  const label = node("label", { class: "box" }, input);
  if (mark) label.append(mark);
  label.append(text);
  parent.append(label);
  return input;
};

const slider = (parent, text, count, value, said, change) => {
  const input = node("input", { type: "range", min: 0, max: count - 1, step: 1 });
  input.value = value;
  const output = node("output");
  const say = () => {
    output.textContent = said(Number(input.value));
    input.setAttribute("aria-valuetext", output.textContent);
  };
  input.addEventListener("input", () => {
    say();
    change(Number(input.value));
  });
  labelled(parent, text, input).after(output);
  say();
  return { input, say };
};

const button = (parent, text, click) => {
  const made = node("button", { type: "button" }, text);
  made.addEventListener("click", click);
  parent.append(made);
  return made;
};

// A quantity to choose; what the solver did stands apart.
const asOption = (one) => [one.name, titled(one), one.isOfSolver ? "What the solver did" : ""];

// What a quantity is: its formula, or a sentence, with signs of code as code.
const meaningOf = (place, { title, long }) => {
  const parts = long && long !== title ? `${title}: ${long}`.split("`") : [];
  place.replaceChildren(...parts.map((part, i) => (i % 2 ? node("code", {}, part) : part)));
};

// A table that is made when it is opened, and again when `stale` is called.
const MOST_ROWS = 400;
const folded = (parent, text, heads, rows) => {
  const body = node("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": text });
  const details = node("details", {}, node("summary", {}, text), body);
  const fill = () => {
    if (!details.open) return;
    const all = rows();
    const table = node("table", { class: "plain" });
    const titles = heads().map((head) => node("th", { scope: "col" }, head));
    table.append(node("thead", {}, node("tr", {}, ...titles)));
    const lines = all.slice(0, MOST_ROWS);
    const row = (line) => node("tr", {}, ...line.map((cell) => node("td", {}, cell)));
    table.append(node("tbody", {}, ...lines.map(row)));
    body.replaceChildren(table);
    if (all.length > MOST_ROWS) {
      body.append(node("p", {}, `The first ${MOST_ROWS} of ${all.length} rows.`));
    }
  };
  details.addEventListener("toggle", fill);
  parent.append(details);
  return fill;
};
