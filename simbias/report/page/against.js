// A quantity against an axis of the grid at one time, or along an axis of its own.

const against = (runs, state, quantityOf, profileOf) => {
  const traces = [];
  runs.forEach((run, panel) => {
    const anchor = panel ? { xaxis: "x2", yaxis: "y2" } : {};
    const profile = profileOf(run);
    const made = profile ? alongOwn(run, profile, state) : alongAxis(run, quantityOf(run), state);
    traces.push(...made.map((trace) => ({ ...trace, ...anchor })));
  });
  return { traces };
};

const alongOwn = (run, profile, state) => {
  const K = profile.middle.shape[1];
  return chosen(run, { ...state, members: "bands" }).flatMap((curve) => {
    curve.shape = profile.areShares ? "hvh" : "linear";
    const row = (i) => at(profile, curve.cell * K + i);
    const text = (i) =>
      bandText(profile, curve, `${profile.dim} = ${short(profile.at.values[i])}`, row(i), run.members);
    return bandTraces(profile.at.values, row, curve, state.logY, text);
  });
};

// Curves that differ in the other axes only; x are the values that are switched on.
const alongAxis = (run, quantity, state) => {
  const x = state.x;
  if (!quantity || x === -1 || x >= run.axes.length) return [];
  const groups = new Map();
  for (const curve of chosen(run, state)) {
    const key = curve.places.filter((_, i) => i !== x).join();
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(curve);
  }
  const T = quantity.hasTime ? run.times.length : 1;
  const time = quantity.hasTime ? Math.min(state.time, T - 1) : 0;
  const places = (curves) => curves.map((curve) => run.axes[x].values[curve.places[x]]);
  const traces = [];
  for (const curves of groups.values()) {
    const look = { ...curves[0], hasBand: hasBands(state, groups.size) };
    const isColoured = state.colour !== -1 && state.colour !== x;
    if (!isColoured) look.colour = inked("accent");
    const marked = markedBy(run, state);
    if (x === (marked === undefined ? state.colour : marked) || state.colour === -1) look.mark = "circle";
    if (x === dashedBy(run, state)) look.dash = "solid";
    const others = run.varying.filter((i) => i !== x);
    look.text = others.map((i) => `${run.axes[i].name} = ${run.axes[i].texts[look.places[i]]}`).join(", ");
    if (state.members !== "bands") traces.push(memberPoints(run, quantity, curves, look, x, time, state));
    if (state.members !== "each") {
      const row = (i) => at(quantity, curves[i].cell * T + time);
      const text = (i) => {
        const where = `${run.axes[x].name} = ${run.axes[x].texts[curves[i].places[x]]}`;
        return bandText(quantity, look, where, row(i), run.members);
      };
      traces.push(...bandTraces(places(curves), row, look, state.logY, text));
    }
  }
  return traces;
};

const memberPoints = (run, quantity, curves, look, x, time, state) => {
  const out = { x: [], y: [], text: [], customdata: [] };
  const seeds = Math.min(run.seeds.length, Math.max(1, Math.floor(MOST_POINTS / curves.length / 4)));
  for (const curve of curves) {
    for (let seed = 0; seed < seeds; seed++) {
      const when = quantity.hasTime ? time : null;
      const value = valueOf(run, quantity, curve.cell, seed, when);
      if (!Number.isFinite(value) || (state.logY && value <= 0)) continue;
      out.x.push(run.axes[x].values[curve.places[x]]);
      out.y.push(value);
      out.text.push(memberText(run, quantity, curve.cell, seed, when));
      out.customdata.push([curve.cell, seed, time]);
    }
  }
  return {
    ...out, mode: "markers", hovertemplate: "%{text}<extra></extra>",
    marker: { color: faded(look.colour, 0.45), size: 6, symbol: look.mark },
  };
};
