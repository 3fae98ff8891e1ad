// How curves look: colours for either theme, dashes, marks, axes of a figure.

const DISTINCT = {
  light: ["#0072B2", "#D55E00", "#007a5a", "#b5528f", "#a87400", "#3a86c8", "#444444"],
  dark: ["#56B4E9", "#ff9d5c", "#3fcf9f", "#e79ac7", "#f0c040", "#a3c9ff", "#dddddd"],
};
// Viridis, dark to bright; either theme leaves out the end that its page swallows.
const VIRIDIS = [
  [68, 1, 84], [72, 40, 120], [62, 74, 137], [49, 104, 142], [38, 130, 142],
  [31, 158, 137], [53, 183, 121], [110, 206, 88], [181, 222, 43], [253, 231, 37],
];
const DASHES = ["solid", "dash", "dot", "dashdot", "longdash", "longdashdot"];
const DASH_LENGTHS = ["", "6 4", "2 3", "6 3 2 3", "11 4", "11 3 2 3"];
const MARKS = ["circle", "square", "diamond", "triangle-up", "cross", "x", "star"];
const SIGNS = ["●", "■", "◆", "▲", "✚", "✖", "★"];

const along = (share) => {
  const [first, last] = isDark() ? [0.3, 1] : [0, 0.8];
  const place = (first + share * (last - first)) * (VIRIDIS.length - 1);
  const below = Math.min(Math.floor(place), VIRIDIS.length - 2);
  const mixed = VIRIDIS[below].map((v, i) => v + (place - below) * (VIRIDIS[below + 1][i] - v));
  return `rgb(${mixed.map(Math.round).join(",")})`;
};

// Of the i-th of several values of an axis: a scale for numbers, else distinct colours.
const colourOf = (axis, i) => {
  const count = axis.values.length;
  if (axis.isNumber && count > 2) return along(i / (count - 1));
  const known = DISTINCT[isDark() ? "dark" : "light"];
  return known[i % known.length];
};
const signOf = (i) => SIGNS[i % SIGNS.length];
// A short line of the i-th dash.
const dashOf = (i) => {
  const made = (tag, attributes) => {
    const one = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) one.setAttribute(name, value);
    return one;
  };
  const line = { x1: 0, x2: 30, y1: 4, y2: 4, stroke: "currentColor", "stroke-width": 2 };
  const svg = made("svg", { width: 30, height: 8, class: "dash", "aria-hidden": "true" });
  svg.append(made("line", { ...line, "stroke-dasharray": DASH_LENGTHS[i % DASHES.length] }));
  return svg;
};

const faded = (colour, share) => {
  const probe = document.getElementById("probe");
  probe.style.color = colour;
  const [r, g, b] = getComputedStyle(probe).color.match(/[\d.]+/g);
  return `rgba(${r},${g},${b},${share})`;
};

// Positive, and over more than `apart` from the least to the largest.
const isLogarithmic = (values, apart = 50) => {
  let least = Infinity;
  let most = 0;
  for (const value of values) {
    if (value > 0 && Number.isFinite(value)) {
      least = Math.min(least, value);
      most = Math.max(most, value);
    } else if (value < 0) return false;
  }
  return most / least > apart;
};

// Lines of about so many letters; what comes from a run is no markup.
const wrapped = (text, width = 35) => {
  const lines = [""];
  for (const word of String(text).split(" ")) {
    const line = [lines.at(-1), word].filter(Boolean).join(" ");
    if (line.length > width && lines.at(-1)) lines.push(word);
    else lines[lines.length - 1] = line;
  }
  return lines.map(safe).join("<br>");
};

const axis = (title, isLog, more = {}) => ({
  title: { text: wrapped(title), standoff: 8 },
  type: isLog ? "log" : "linear",
  exponentformat: "power",
  automargin: true,
  gridcolor: inked("faint"),
  linecolor: inked("line"),
  zerolinecolor: inked("line"),
  tickcolor: inked("line"),
  ticks: "outside",
  tickangle: 0,
  ticklen: 4,
  nticks: 7,
  minor: { ticks: "" },
  ...more,
});

// A label at every decade, or, where there are many, at as many as `nticks` allows.
const MANY_DECADES = 5;
const atDecades = (traces, form) => {
  for (const key of Object.keys(form).filter((one) => /^[xy]axis\d*$/.test(one))) {
    if (form[key].type !== "log" || form[key].tickvals) continue;
    const id = key.replace("axis", "");
    const drawn = traces.filter((one) => (one[`${id[0]}axis`] || id[0]) === id);
    let [least, most] = [Infinity, 0];
    for (const value of drawn.flatMap((one) => [...(one[id[0]] || [])])) {
      if (value > 0) [least, most] = [Math.min(least, value), Math.max(most, value)];
    }
    if (!(Math.log10(most / least) > MANY_DECADES)) form[key].dtick = 1;
  }
};

// Texts in lines below a place each, in their order, clear of the title of the other axis.
const categories = (texts) => ({
  type: "category",
  categoryarray: texts,
  tickvals: texts,
  ticktext: texts.map((text) => wrapped(text, 14)),
  range: [-0.5, texts.length - 0.5],
});

// Of texts in a row of some pixels, evenly, those that fit beside each other, with the last.
const fitting = (texts, width) => {
  const longest = Math.max(...texts.map((text) => text.length));
  const room = Math.max(1, Math.floor(width / (7 * longest + 12)));
  const each = Math.ceil(texts.length / room);
  return texts.filter((_, i) => (texts.length - 1 - i) % each === 0);
};

const layout = (more = {}) => ({
  font: { family: getComputedStyle(document.body).fontFamily, size: 13, color: inked("ink") },
  paper_bgcolor: "rgba(0,0,0,0)",
  plot_bgcolor: "rgba(0,0,0,0)",
  margin: { l: 56, r: 12, t: 26, b: 48 },
  showlegend: false,
  hovermode: "closest",
  hoverlabel: {
    bgcolor: inked("card"), bordercolor: inked("line"), align: "left",
    font: { color: inked("ink"), size: 13 },
  },
  dragmode: matchMedia("(pointer: coarse)").matches ? false : "zoom",
  ...more,
});
