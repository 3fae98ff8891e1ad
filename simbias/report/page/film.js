// Neurons of one member on the circle, at a time that a slider chooses.

const filmOf = (run, moved) => {
  const figure = document.getElementById("neurons-figure");
  const place = document.getElementById("neurons");
  figure.hidden = !run.films;
  document.getElementById("member-hint").hidden = Boolean(run.films);
  if (!run.films) return { show: () => {}, time: () => null };
  let film, times, places, masses;
  const load = () => {
    film = run.films;
    times = run.read(film.times).values;
    places = run.read(film.places);
    masses = run.read(film.masses);
  };
  load();
  const [, T, m] = masses.shape;
  let member = -1;
  let now = T - 1;
  const note = document.getElementById("neurons-note");

  const paint = () => {
    if (member < 0) return;
    const first = member * T * m;
    const point = (t, j) => [
      places.values[2 * (first + t * m + j)], places.values[2 * (first + t * m + j) + 1]];
    let most = 0;
    for (let j = 0; j < m; j++) {
      most = Math.max(most, Math.abs(masses.values[first + now * m + j]) || 0);
    }
    const trail = { x: [], y: [] };
    for (let j = 0; j < m; j++) {
      for (let t = 0; t <= now; t++) {
        const [x, y] = point(t, j);
        trail.x.push(x);
        trail.y.push(y);
      }
      trail.x.push(null);
      trail.y.push(null);
    }
    const known = DISTINCT[isDark() ? "dark" : "light"];
    const kinds = [["output weight ≥ 0", known[0], "circle", 1], ["output weight < 0", known[1], "diamond", -1]];
    const traces = kinds.map(([name, colour, symbol, sign]) => {
      const out = { x: [], y: [], size: [], text: [] };
      for (let j = 0; j < m; j++) {
        const mass = masses.values[first + now * m + j];
        if ((mass >= 0 ? 1 : -1) !== sign) continue;
        const [x, y] = point(now, j);
        out.x.push(x);
        out.y.push(y);
        out.size.push(4 + 14 * Math.sqrt(Math.abs(mass) / (most || 1)));
        out.text.push(`neuron ${j}<br>mass |a|·‖w‖ = ${short(Math.abs(mass))}`);
      }
      return {
        x: out.x, y: out.y, text: out.text, name, mode: "markers",
        marker: { color: faded(colour, 0.7), size: out.size, symbol, line: { width: 1, color: inked("card") } },
        hovertemplate: "%{text}<extra></extra>",
      };
    });
    const lines = {
      ...trail, mode: "lines", line: { color: faded(inked("muted"), 0.25), width: 1 },
      hoverinfo: "skip", showlegend: false,
    };
    const bare = (more) => ({
      range: [-1.15, 1.15], zeroline: false, showgrid: false, showticklabels: false, ticks: "", ...more });
    const form = layout({
      xaxis: bare({}), yaxis: bare({ scaleanchor: "x" }),
      margin: { l: 8, r: 8, t: 26, b: 8 },
      showlegend: true, legend: { orientation: "h", y: 1.0, yanchor: "bottom", x: 0, itemsizing: "constant" },
      shapes: [{ type: "circle", x0: -1, x1: 1, y0: -1, y1: 1, line: { color: inked("line"), width: 1 } }],
      dragmode: false,
    });
    draw(place, [lines, ...traces], form, `Directions of ${m} neurons at t = ${short(times[now])}`);
  };

  const controls = document.getElementById("neurons-controls");
  const at = slider(controls, "time", T, now, (i) => `t = ${short(times[i])}`, (i) => {
    now = i;
    paint();
    moved();
  });
  let playing = null;
  const play = button(controls, "Play", () => {
    if (playing !== null) return stop();
    if (now === T - 1) now = -1;
    play.textContent = "Stop";
    playing = setInterval(() => {
      now = Math.min(now + 1, T - 1);
      at.input.value = now;
      at.say();
      paint();
      moved();
      if (now === T - 1) stop();
    }, 160);
    return undefined;
  });
  const stop = () => {
    clearInterval(playing);
    playing = null;
    play.textContent = "Play";
  };
  if (T < 2) controls.hidden = true;
  const fill = folded(
    document.getElementById("neurons-table"), "The neurons at that time, as a table",
    () => ["neuron", "direction 1", "direction 2", "mass, signed"],
    () => [...Array(m).keys()].map((j) => {
      const i = (member * T + now) * m + j;
      return [j, short(places.values[2 * i]), short(places.values[2 * i + 1]), short(masses.values[i])];
    }),
  );
  return {
    show: (cell, seed) => {
      load();
      member = film.members.findIndex(([c, s]) => c === cell && s === seed);
      place.hidden = member < 0;
      const seen = film.inputs > 2 && member >= 0
        ? `Of ${film.inputs} coordinates, seen along the two that carry most of the mass at the end ` +
          `(${short(100 * film.shares[member])} % of its square).`
        : "";
      note.textContent = member < 0
        ? "The neurons of this member are not in this page; those of lower seeds are." : seen;
      paint();
      fill();
    },
    time: () => (member < 0 || T < 2 ? null : times[now]),
  };
};
