// One member: its losses, its neurons over time, its other measures, its events.

const CLUSTERS = "clusters of its neurons";
const memberSection = (run) => {
  const state = { places: run.axes.map(() => 0), seed: 0, what: "losses", isChosen: false };
  const controls = document.getElementById("member-controls");
  const losses = document.getElementById("member-losses");
  const said = document.getElementById("member-said");
  const selects = run.axes.map((one, i) => run.sizes[i] > 1 && choice(
    controls, one.name, one.texts.map((text, k) => [k, text]), 0, (value) => {
      state.places[i] = Number(value);
      state.isChosen = true;
      redraw();
    }));
  const seeds = choice(controls, "seed", run.seeds.map((seed, k) => [k, seed]), 0, (value) => {
    state.seed = Number(value);
    state.isChosen = true;
    redraw();
  });
  const timed = run.quantities.filter((one) => one.hasTime);
  const hasLosses = timed.some((one) => one.isLoss);
  const names = timed.map(asOption);
  if (hasLosses) names.unshift(["losses", "all losses"]);
  if (run.films) names.push(["clusters", CLUSTERS]);
  state.what = (names[0] || [""])[0];
  if (names.length) {
    choice(controls, "Quantity", names, state.what, (value) => {
      state.what = value;
      redraw();
    });
  }
  const film = filmOf(run, () => curve());
  const array = arrayOf(run);
  const events = eventsOf(run);
  const cell = () => run.cellAt(state.places);
  const statusOf = (at, seed) => run.statuses[run.status[at * run.members + seed]];
  const note = document.getElementById("member-losses-note");

  const go = (at, seed) => {
    state.places = run.places(at);
    state.seed = seed;
    selects.forEach((select, i) => select && (select.value = String(state.places[i])));
    seeds.value = String(seed);
    redraw();
  };
  // Until a reader chooses: the first member in this page that does not run any more.
  const begin = () => {
    for (let at = 0; at < run.cells; at++) {
      const seed = run.seeds.findIndex((_, k) => statusOf(at, k) !== "RUNNING");
      if (seed !== -1) return go(at, seed);
    }
    return go(0, 0);
  };
  const shownNow = () =>
    run.quantities.filter((one) => one.hasTime && (state.what === "losses" ? one.isLoss : one.name === state.what));

  // Quantities with their values and times; clusters are known when networks were kept.
  const rowsNow = () => {
    if (state.what !== "clusters") {
      return shownNow().map((one) => [one, [...run.times],
        [...run.times].map((_, i) => valueOf(run, one, cell(), state.seed, i))]);
    }
    const found = film.counts() || { times: [], counts: [] };
    return [[{ name: CLUSTERS }, found.times, found.counts]];
  };

  const curve = () => {
    const found = rowsNow();
    if (!found.length) return;
    const shown = found.map(([one]) => one);
    const rows = found.map(([, , row]) => row);
    losses.hidden = !rows.flat().some(Number.isFinite);
    note.textContent = losses.hidden ? "No value of this is stored of this network." : "";
    if (losses.hidden) return;
    const isLog = state.what !== "clusters" && isLogarithmic(rows.flat());
    const known = DISTINCT[isDark() ? "dark" : "light"];
    const traces = shown.map((one, i) => ({
      x: found[i][1], y: rows[i].map((v) => (isLog && v <= 0 ? null : v)), name: safe(titled(one)),
      mode: "lines+markers",
      line: { color: known[i % known.length], dash: DASHES[i % DASHES.length], width: 2 },
      marker: { size: 5, symbol: MARKS[i % MARKS.length] },
      hovertemplate: `t = %{x:.4g}<br>${safe(titled(one))}: %{y:.4g}<extra></extra>`,
    }));
    const now = film.time();
    const shapes = now === null ? [] : [{
      type: "line", x0: now, x1: now, yref: "paper", y0: 0, y1: 1,
      line: { color: inked("muted"), width: 1, dash: "dot" },
    }];
    const form = layout({
      xaxis: axis("time t", isLogarithmic(run.times)),
      yaxis: axis(shown.length === 1 ? titled(shown[0]) : "", isLog),
      showlegend: shown.length > 1, legend: { orientation: "h", y: 1.02, yanchor: "bottom", x: 0 },
      shapes,
    });
    draw(losses, traces, form, `${shown.map(titled).join(", ")} of one network over time`);
  };

  const redraw = () => {
    const status = statusOf(cell(), state.seed);
    const text = [run.cellText(cell()), `seed ${run.seeds[state.seed]}`].filter(Boolean).join(", ");
    said.textContent = `${text}: ${status.replaceAll("_", " ").toLowerCase()}.`;
    const isRunning = status === "RUNNING";
    const others = { neurons: run.films, array: run.arrays.length, events: run.events };
    for (const [id, there] of Object.entries(others)) {
      document.getElementById(`${id}-figure`).hidden = isRunning || !there;
    }
    film.show(cell(), state.seed);
    array.show(cell(), state.seed);
    events.show(cell(), state.seed);
    curve();
    fill();
    if (isRunning && losses.hidden) note.textContent = "Its curves are stored when it has finished.";
  };
  tools(document.getElementById("member-tools"), losses, "member");
  const fill = folded(
    document.getElementById("member-table"), "This network, as a table",
    () => ["t", ...timed.map(titled)],
    () => [...run.times].map((t, i) =>
      [short(t), ...run.quantities.filter((one) => one.hasTime).map((one) => short(valueOf(run, one, cell(), state.seed, i)))]),
  );
  if (!timed.length && !run.films) document.getElementById("member-losses-figure").hidden = true;
  begin();
  return {
    redraw: () => (state.isChosen ? redraw() : begin()),
    choose: (at, seed) => {
      state.isChosen = true;
      go(at, seed);
    },
  };
};
