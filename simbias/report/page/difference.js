// Two runs: A − B by pairs of seeds, with the interval of its mean.

const differenceSection = (run, levels) => {
  const place = document.getElementById("difference");
  const controls = document.getElementById("difference-controls");
  const state = { name: run.quantities[0].name, x: -2, time: run.times.length - 1, shown: firstShown(run), colour: run.varying.length ? run.varying[0] : -1 };
  const quantityOf = () => run.quantities.find((one) => one.name === state.name);
  choice(controls, "Quantity", run.quantities.map(asOption), state.name, (value) => {
    state.name = value;
    redraw();
  });
  const axes = [[-2, "time"], ...run.varying.map((i) => [i, run.axes[i].name])];
  choice(controls, "Against", axes, state.x, (value) => {
    state.x = Number(value);
    redraw();
  });
  const when = slider(controls, "at time", run.times.length, state.time, (i) => `t = ${short(run.times[i])}`, (i) => {
    state.time = i;
    redraw();
  });
  tools(document.getElementById("difference-tools"), place, "difference");
  const points = () => {
    const quantity = quantityOf();
    const T = quantity.hasTime ? run.times.length : 1;
    const out = [];
    for (const curve of chosen(run, state)) {
      for (let i = 0; i < T; i++) {
        const k = curve.cell * T + i;
        out.push({
          curve, i, middle: quantity.mean.values[k], low: quantity.low.values[k],
          high: quantity.high.values[k], count: quantity.pairs.values[k],
        });
      }
    }
    return { quantity, T, out };
  };
  const fill = folded(
    document.getElementById("difference-table"), "The differences, as a table",
    () => [...run.varying.map((i) => run.axes[i].name), "t", "A − B", "from", "to", "pairs"],
    () => {
      const { quantity, out } = points();
      return out.map(({ curve, i, middle, low, high, count }) => [
        ...run.varying.map((k) => run.axes[k].texts[curve.places[k]]),
        quantity.hasTime ? short(run.times[i]) : "", ...[middle, low, high].map(short), count]);
    },
  );
  const redraw = () => {
    const { quantity, T, out } = points();
    const isOver = quantity.hasTime && state.x === -2;
    when.input.parentElement.hidden = isOver || !quantity.hasTime;
    const x = state.x === -2 ? run.varying[0] : state.x;
    const now = quantity.hasTime ? state.time : 0;
    const traces = [];
    const text = (p, where) => [
      `<b>${safe(p.curve.text || "all networks")}</b>, ${safe(where)}`,
      `A − B: ${short(p.middle)} [${short(p.low)}, ${short(p.high)}]`, `${p.count} pairs of seeds`].join("<br>");
    if (isOver) {
      for (const curve of chosen(run, state)) {
        const rows = out.filter((p) => p.curve.cell === curve.cell);
        const row = (i) => rows[i];
        traces.push(...bandTraces(run.times, row, curve, false, (i) => text(rows[i], `t = ${short(run.times[i])}`)));
      }
    } else if (x !== undefined) {
      const groups = new Map();
      for (const p of out.filter((each) => each.i === Math.min(now, T - 1))) {
        const key = p.curve.places.filter((_, i) => i !== x).join();
        groups.set(key, [...(groups.get(key) || []), p]);
      }
      for (const rows of groups.values()) {
        const look = {
          ...rows[0].curve, colour: state.colour === x ? inked("accent") : rows[0].curve.colour, mark: "circle",
          hasBand: groups.size <= MOST_BANDS,
        };
        const places = rows.map((p) => run.axes[x].values[p.curve.places[x]]);
        traces.push(...bandTraces(places, (i) => rows[i], look, false, (i) => text(rows[i], "")));
      }
    }
    const ax = isOver || x === undefined ? null : run.axes[x];
    const form = layout({
      xaxis: isOver ? axis("time t", isLogarithmic(run.times))
        : axis(ax ? ax.name : "", ax && ax.isNumber && isLogarithmic(ax.values, 8)),
      yaxis: { ...axis(`A − B: ${titled(quantity)}`, false), zeroline: true, zerolinecolor: inked("muted"), zerolinewidth: 1.5 },
    });
    if (ax && !ax.isNumber) Object.assign(form.xaxis, categories(ax.texts));
    const isMany = traces.some((one) => one.meta === POINTED);
    const few = out.some((p) => p.count > 0 && !(Number.isFinite(p.low) && Number.isFinite(p.high)));
    document.getElementById("difference-note").textContent = [
      isMany ? "Point at a curve to see its interval." : "",
      few ? "Where there is no shade there are too few pairs, or equal differences, which tell nothing." : "",
    ].join(" ").trim();
    draw(place, traces, form, `Difference of ${titled(quantity)}, A minus B, with intervals`);
    fill();
  };
  redraw();
  return { redraw };
};
