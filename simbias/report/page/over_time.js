// A quantity over time: bands over seeds, members, or both.

const overTime = (runs, state, quantityOf) => {
  const traces = [];
  let note = "";
  runs.forEach((run, panel) => {
    const quantity = quantityOf(run);
    if (!quantity || !quantity.hasTime) return;
    const anchor = panel ? { xaxis: "x2", yaxis: "y2" } : {};
    const curves = chosen(run, state);
    const T = run.times.length;
    if (state.members !== "bands") {
      const each = Math.max(1, Math.floor(MOST_POINTS / T / Math.max(curves.length, 1)));
      const seeds = Math.min(each, run.seeds.length);
      if (seeds < run.members) note = `${seeds} of ${run.members} networks of each curve are drawn.`;
      for (const curve of curves) {
        traces.push({ ...memberLines(run, quantity, curve, seeds, state), ...anchor });
      }
    }
    if (state.members !== "each") {
      for (const curve of curves) {
        const row = (i) => at(quantity, curve.cell * T + i);
        const text = (i) => bandText(quantity, curve, `t = ${short(run.times[i])}`, row(i), run.members);
        const made = bandTraces(run.times, row, curve, state.logY, text);
        traces.push(...made.map((trace) => ({ ...trace, ...anchor })));
      }
    }
  });
  return { traces, note };
};

const at = (quantity, i) => ({
  low: quantity.low.values[i],
  middle: quantity.middle.values[i],
  high: quantity.high.values[i],
  count: quantity.count.values[i],
});

// All members of a cell as one trace, with gaps between them.
const memberLines = (run, quantity, curve, seeds, state) => {
  const x = [];
  const y = [];
  const who = [];
  const text = [];
  for (let seed = 0; seed < seeds; seed++) {
    for (let i = 0; i < run.times.length; i++) {
      const value = valueOf(run, quantity, curve.cell, seed, i);
      if (!Number.isFinite(value) || (state.logY && value <= 0)) continue;
      x.push(run.times[i]);
      y.push(value);
      who.push([curve.cell, seed, i]);
      text.push(memberText(run, quantity, curve.cell, seed, i));
    }
    x.push(null);
    y.push(null);
    who.push(null);
    text.push("");
  }
  return {
    x, y, text, customdata: who, mode: "lines+markers", connectgaps: false,
    line: { color: faded(curve.colour, 0.45), width: 1, dash: curve.dash },
    marker: { color: faded(curve.colour, 0.55), size: 3, symbol: curve.mark },
    hovertemplate: "%{text}<extra></extra>",
  };
};
