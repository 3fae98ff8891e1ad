// Measures of one member along an axis of their own, and the events of its flow.

const arrayOf = (run) => {
  const figure = document.getElementById("array-figure");
  const place = document.getElementById("array");
  figure.hidden = !run.arrays.length;
  if (!run.arrays.length) return { show: () => {} };
  const load = (i) => {
    const found = run.arrays[i];
    return { ...found, values: run.read(found.values).values };
  };
  let which = 0;
  let one = load(which);
  let who = [0, 0];
  const named = run.arrays.map((each, i) => [i, `${spaced(each.name)}, along ${spaced(each.dim)}`]);
  choice(document.getElementById("array-controls"), "Measure", named, 0, (value) => {
    which = Number(value);
    paint();
  });
  const note = document.getElementById("array-note");
  const fill = folded(
    document.getElementById("array-table"), "This measure, as a table",
    () => [spaced(one.dim), ...one.places.map((place) => (one.across ? `${across()} = ${place}` : place))],
    () => one.at.map((at, k) => [at, ...rows().map((row) => short(row[k]))]),
  );
  const across = () => (one.across === "time" ? "t" : spaced(one.across));
  const rows = () => {
    const K = one.at.length;
    const first = (who[0] * one.seeds + who[1]) * one.places.length * K;
    return one.places.map((_, t) =>
      Array.from(one.values.subarray(first + t * K, first + (t + 1) * K)));
  };
  const paint = () => {
    one = load(which);
    const isHere = who[1] < one.seeds;
    place.hidden = !isHere;
    note.textContent = isHere ? "" : "Of this network it is not in this page; of lower seeds it is.";
    if (!isHere) return;
    const at = one.at.map((text) => (Number.isNaN(Number(text)) ? text : Number(text)));
    const name = spaced(one.name);
    const own = axis(spaced(one.dim), false);
    let traces;
    let form;
    if (one.places.length > 1) {
      const values = rows();
      const z = at.map((_, k) => values.map((row) => row[k]));
      traces = [{
        type: "heatmap", x: one.places, y: at, z, colorscale: "Viridis",
        colorbar: { thickness: 10, outlinewidth: 0, tickcolor: inked("line"), exponentformat: "power" },
        hovertemplate: `${safe(across())} = %{x}<br>${safe(one.dim)} = %{y}<br>${safe(name)}: %{z:.4g}<extra></extra>`,
      }];
      const columns = { type: "category", tickvals: fitting(one.places, place.clientWidth - 140) };
      const title = one.across === "time" ? "time t" : across();
      form = layout({ xaxis: { ...axis(title, false), ...columns }, yaxis: own });
    } else {
      traces = [{
        x: at, y: rows()[0], mode: one.areShares ? "lines" : "lines+markers",
        line: { color: inked("accent"), width: 2, shape: one.areShares ? "hvh" : "linear" },
        fill: one.areShares ? "tozeroy" : "none", fillcolor: faded(inked("accent"), 0.3), marker: { size: 5 }, hovertemplate: `${safe(one.dim)} = %{x}<br>${safe(name)}: %{y:.4g}<extra></extra>`,
      }];
      form = layout({ xaxis: own, yaxis: axis(name, false) });
    }
    draw(place, traces, form, `${name} of one network along ${one.dim}`);
    fill();
  };
  return {
    show: (cell, seed) => {
      who = [cell, seed];
      paint();
    },
  };
};

const EVENTS = ["", "activates", "deactivates", "slides", "leaves, active", "leaves, inactive"];
const eventsOf = (run) => {
  const figure = document.getElementById("events-figure");
  const place = document.getElementById("events");
  figure.hidden = !run.events;
  if (!run.events) return { show: () => {} };
  const names = ["time", "neuron", "sample", "kind"];
  const note = document.getElementById("events-note");
  let rows = [];
  const fill = folded(
    document.getElementById("events-table"), "The events, as a table",
    () => ["t", "neuron", "sample", "what it does"],
    () => rows.map(([t, neuron, sample, kind]) => [short(t), neuron, sample, EVENTS[kind] || kind]),
  );
  return {
    show: (cell, seed) => {
      rows = [];
      const read = Object.fromEntries(names.map((key) => [key, run.read(run.events[key])]));
      const E = read.time.shape[2];
      if (seed < run.events.seeds) {
        const first = (cell * run.events.seeds + seed) * E;
        for (let i = first; i < first + E; i++) {
          const row = names.map((key) => read[key].values[i]);
          if (Number.isFinite(row[0])) rows.push(row);
        }
      }
      place.hidden = !rows.length;
      note.textContent = rows.length ? `${rows.length} events.` : "No event of this network is in this page.";
      fill();
      if (!rows.length) return;
      const kinds = [...new Set(rows.map((row) => row[3]))].sort();
      const known = DISTINCT[isDark() ? "dark" : "light"];
      const traces = kinds.map((kind) => {
        const some = rows.filter((row) => row[3] === kind);
        return {
          x: some.map((row) => row[0]), y: some.map((row) => row[1]), name: EVENTS[kind] || String(kind),
          mode: "markers", text: some.map((row) => row[2]),
          marker: { color: known[kind % known.length], symbol: MARKS[kind % MARKS.length], size: 6 },
          hovertemplate: "t = %{x:.4g}<br>neuron %{y}, sample %{text}<extra></extra>",
        };
      });
      const form = layout({
        xaxis: axis("time t", isLogarithmic(rows.map((row) => row[0]))), yaxis: axis("neuron", false),
        showlegend: true, legend: { orientation: "h", y: 1.02, yanchor: "bottom", x: 0 },
      });
      draw(place, traces, form, "Events of one network over time, by neuron");
    },
  };
};
