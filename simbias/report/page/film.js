// Neurons of one member on the circle, at a time that a slider chooses.

const filmOf = (run, moved) => {
  const figure = document.getElementById("neurons-figure");
  const place = document.getElementById("neurons");
  figure.hidden = !run.films;
  document.getElementById("member-hint").hidden = Boolean(run.films);
  if (!run.films) return { show: () => {}, time: () => null, counts: () => null };
  let film, times, places, masses, clusters, counts;
  const load = () => {
    film = run.films;
    clusters = run.read(film.clusters).values;
    counts = run.read(film.counts).values;
    times = run.read(film.times).values;
    places = run.read(film.places);
    masses = run.read(film.masses);
  };
  load();
  const [, T, m] = masses.shape;
  let member = -1;
  let now = T - 1;
  let colour = "sign";
  let seen = "";
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
    const [looks, kindOf] = kinds(first);
    const traces = looks.map(([name, tone, symbol, opacity], kind) => {
      const out = { x: [], y: [], size: [], text: [] };
      for (let j = 0; j < m; j++) {
        const mass = masses.values[first + now * m + j];
        if (Number.isNaN(mass) || kindOf(j, mass) !== kind) continue;
        const [x, y] = point(now, j);
        out.x.push(x);
        out.y.push(y);
        out.size.push(4 + 14 * Math.sqrt(Math.abs(mass) / (most || 1)));
        const rank = clusters[first + now * m + j];
        const group = rank === NO_CLUSTER ? "in no cluster" : `cluster ${rank + 1}`;
        out.text.push(`neuron ${j}, ${group}<br>mass |a|·‖w‖ = ${short(Math.abs(mass))}`);
      }
      return {
        x: out.x, y: out.y, text: out.text, name, mode: "markers",
        marker: { color: faded(tone, opacity), size: out.size, symbol, line: { width: 1, color: symbol.endsWith("open") ? tone : inked("card") } },
        hovertemplate: "%{text}<extra></extra>", showlegend: out.x.length > 0,
      };
    });
    note.textContent = [seen, clustersSaid(counts[member * T + now])].filter(Boolean).join(" ");
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

  // Looks of the kinds that neurons are told apart by, and which of them one is.
  const kinds = (first) => {
    if (colour === "sign") {
      const known = DISTINCT[isDark() ? "dark" : "light"];
      const looks = [["output weight ≥ 0", known[0], "circle", 0.7], ["output weight < 0", known[1], "diamond", 0.7]];
      return [looks, (_, mass) => (mass >= 0 ? 0 : 1)];
    }
    const start = first + (colour === "end" ? T - 1 : now) * m;
    const ranks = clusters.subarray(start, start + m);
    const shares = clusterShares(ranks, masses.values.subarray(start, start + m));
    return [clusterLooks(shares), (j) => lookOf(ranks[j], shares.length)];
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
  if (T < 2) for (const one of controls.children) one.hidden = true;
  const ways = [["sign", "sign of the output weight"], ["end", "cluster at the end"], ["now", "cluster at that time"]];
  choice(controls, "Colour by", ways, colour, (value) => {
    colour = value;
    paint();
  });
  const fill = folded(
    document.getElementById("neurons-table"), "The neurons at that time, as a table",
    () => ["neuron", "direction 1", "direction 2", "mass, signed", "cluster"],
    () => [...Array(m).keys()].map((j) => {
      const i = (member * T + now) * m + j;
      const group = clusters[i] === NO_CLUSTER ? "none" : clusters[i] + 1;
      return [j, ...[places.values[2 * i], places.values[2 * i + 1], masses.values[i]].map(short), group];
    }),
  );
  return {
    show: (cell, seed) => {
      load();
      member = film.members.findIndex(([c, s]) => c === cell && s === seed);
      place.hidden = member < 0;
      seen = film.inputs > 2 && member >= 0
        ? `Of ${film.inputs} coordinates, seen along the two that carry most of the mass at the end ` +
          `(${short(100 * film.shares[member])} % of its square).`
        : "";
      note.textContent = "The neurons of this network are not in this page; those of lower seeds are.";
      paint();
      fill();
    },
    time: () => (member < 0 || T < 2 ? null : times[now]),
    // How many clusters there are, and when.
    counts: () => (member < 0 ? null : { times: [...times], counts: [...counts.subarray(member * T, (member + 1) * T)] }),
  };
};
