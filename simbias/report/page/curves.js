// Curves of a quantity: one per cell of the grid that is switched on.

const MOST_CURVES = 12;
const MOST_POINTS = 30000;
// Of more curves, or among networks, a band is drawn only where a reader points.
const MOST_BANDS = 4;
const hasBands = (state, curves) => curves <= (state.members === "both" ? 1 : MOST_BANDS);

// Which values of every axis are on at first: all, or as many as can be told apart.
const firstShown = (run) => {
  const shown = run.axes.map((axis) => axis.values.map(() => true));
  let curves = run.cells;
  for (const i of [...run.varying].reverse()) {
    if (curves <= MOST_CURVES) break;
    const others = curves / run.sizes[i];
    const kept = Math.max(1, Math.floor(MOST_CURVES / Math.max(others, 1)));
    const step = run.sizes[i] / kept;
    shown[i] = shown[i].map((_, k) => Math.floor(k / step) !== Math.floor((k - 1) / step));
    curves = others * kept;
  }
  return shown;
};

// The axes whose values differ by dash, and by mark, besides that of the colours.
const dashedBy = (run, state) => run.varying.filter((i) => i !== state.colour)[0];
const markedBy = (run, state) => run.varying.filter((i) => i !== state.colour)[1];

const chosen = (run, state) => {
  const out = [];
  for (let cell = 0; cell < run.cells; cell++) {
    const places = run.places(cell);
    if (!places.every((place, i) => state.shown[i][place])) continue;
    const by = state.colour;
    const dashed = dashedBy(run, state);
    const marked = markedBy(run, state);
    const k = by === -1 ? 0 : places[by];
    out.push({
      cell, places, k,
      text: run.cellText(cell),
      colour: by === -1 ? inked("accent") : colourOf(run.axes[by], k),
      dash: dashed === undefined ? "solid" : DASHES[places[dashed] % DASHES.length],
      mark: MARKS[(marked === undefined ? k : places[marked]) % MARKS.length],
    });
  }
  for (const curve of out) curve.hasBand = hasBands(state, out.length);
  return out;
};

// A band and its middle; `at` are the places on the x axis, `take` the place of each.
const bandTraces = (x, rows, curve, isLog, texts) => {
  const good = [];
  for (let i = 0; i < x.length; i++) {
    const { middle } = rows(i);
    if (Number.isFinite(middle) && (!isLog || middle > 0)) good.push(i);
  }
  const least = (value, middle) => (isLog && !(value > 0) ? middle : value);
  const wide = good.filter((i) => Number.isFinite(rows(i).low) && Number.isFinite(rows(i).high));
  const low = wide.map((i) => least(rows(i).low, rows(i).middle));
  const high = wide.map((i) => rows(i).high);
  const xs = good.map((i) => x[i]);
  const inside = wide.map((i) => x[i]);
  const both = [...inside, ...[...inside].reverse()];
  return [
    {
      x: both, y: [...high, ...[...low].reverse()], fill: "toself", mode: "lines",
      line: { width: 0, shape: curve.shape }, fillcolor: faded(curve.colour, 0.16), hoverinfo: "skip",
      ...(curve.hasBand ? {} : { opacity: 0, meta: POINTED }),
    },
    {
      x: xs, y: good.map((i) => rows(i).middle), mode: "lines+markers",
      line: { color: curve.colour, width: 2, dash: curve.dash, shape: curve.shape },
      marker: { color: curve.colour, size: 5.5, symbol: curve.mark },
      text: good.map((i) => texts(i)), hovertemplate: "%{text}<extra></extra>",
    },
  ];
};

const bandText = (quantity, curve, where, row, seeds) => [
  `<b>${safe(curve.text || "all networks")}</b>, ${safe(where)}`,
  `${safe(titled(quantity))}: ${short(row.middle)}`,
  `80 % of networks: ${short(row.low)} … ${short(row.high)}`,
  `${row.count} of ${seeds} networks`,
].join("<br>");

// Plotly takes a few tags in texts: what comes from a run has none.
const safe = (text) => String(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;");

// What is said of one member at a time: who it is, the quantity, its losses.
const memberText = (run, quantity, cell, seed, at) => {
  const all = run.cellText(cell);
  const who = [`seed ${run.seeds[seed]}`, ...(all ? [safe(all)] : [])].join(", ");
  const lines = [`<b>${who}</b>`];
  const one = (q) => `${safe(titled(q))}: ${short(valueOf(run, q, cell, seed, at))}`;
  if (at !== null) lines.push(`t = ${short(run.times[at])}`);
  lines.push(one(quantity));
  const losses = run.quantities.filter((q) => q.isLoss && q !== quantity);
  lines.push(...losses.slice(0, 4).map(one));
  return lines.join("<br>");
};

const valueOf = (run, quantity, cell, seed, at) => {
  const { values, shape } = quantity.members;
  const row = cell * shape[1] + seed;
  if (!quantity.hasTime) return values[row];
  return values[row * shape[2] + (at === null ? shape[2] - 1 : at)];
};
