// The section that looks closer: what is drawn, by which colour, which curves.

// So few networks are drawn at first.
const FEW = 100;
const explored = (runs, choose) => {
  const first = runs[0];
  const state = {
    name: (first.quantities[0] || {}).name,
    profile: null,
    colour: first.varying.length ? first.varying[0] : -1,
    x: first.varying.length ? first.varying[0] : -1,
    members: choose && first.cells * first.members <= FEW ? "both" : "bands",
    time: first.times.length - 1,
    shown: firstShown(first),
    logX: isLogarithmic(first.times),
    logY: false,
  };
  const controls = document.getElementById("controls");
  const curves = document.getElementById("curves");
  const parts = Object.fromEntries(
    ["over-time", "against"].map((id) => [id, document.getElementById(id)]),
  );
  const quantityOf = (run) => run.quantities.find((one) => one.name === state.name);
  const profileOf = (run) => run.profiles.find((one) => one.name === state.profile);
  const isStacked = () => parts["over-time"].clientWidth < 560;

  const fit = () => {
    const shown = state.profile ? profileOf(first) : quantityOf(first);
    const drawn = shown && (state.members === "bands" || state.profile ? shown.middle : shown.members);
    state.logY = Boolean(shown) && isLogarithmic(drawn.values);
    logY.checked = state.logY;
  };
  const options = [
    ...first.quantities.map(asOption),
    ...first.profiles.map((one) => [`along ${one.name}`, `${titled(one)}, along ${spaced(one.dim)}`, "Along an axis of its own"]),
  ];
  const what = choice(controls, "Quantity", options, state.name, (value) => {
    const found = first.profiles.find((one) => `along ${one.name}` === value);
    state.profile = found ? found.name : null;
    if (!found) state.name = value;
    fit();
    redraw();
  });
  choice(
    controls, "Show",
    [["bands", "medians and bands"], ["both", "medians and networks"], ["each", "networks"]],
    state.members, (value) => {
      state.members = value;
      redraw();
    },
  );
  if (first.varying.length > 1) {
    const axes = first.varying.map((i) => [i, first.axes[i].name]);
    choice(controls, "Colour by", axes, state.colour, (value) => {
      state.colour = Number(value);
      marks();
      redraw();
    });
    choice(controls, "Against", axes, state.x, (value) => {
      state.x = Number(value);
      redraw();
    });
  }
  const logY = box(controls, "logarithmic values", state.logY, (on) => {
    state.logY = on;
    redraw();
  });
  box(controls, "logarithmic time", state.logX, (on) => {
    state.logX = on;
    redraw();
  });

  // Check boxes switch curves on and off; they bear colours, dashes and marks, and so are the legend.
  const marks = () => {
    curves.replaceChildren();
    const dashed = dashedBy(first, state);
    const marked = markedBy(first, state);
    for (const i of first.varying) {
      const field = node("fieldset", {}, node("legend", {}, first.axes[i].name));
      const boxes = first.axes[i].texts.map((text, k) => {
        // Where another axis has the marks, that of the colours has discs.
        const isPlain = i === state.colour && marked !== undefined;
        const sign = node("span", { class: "sign", "aria-hidden": "true" }, signOf(isPlain ? 0 : k));
        if (i === state.colour) sign.style.color = colourOf(first.axes[i], k);
        const mark = i === state.colour || i === marked ? sign : i === dashed ? dashOf(k) : null;
        return box(field, text, state.shown[i][k], (on) => {
          state.shown[i][k] = on;
          redraw();
        }, mark);
      });
      for (const [text, on] of [["all", true], ["none", false]]) {
        button(field, text, () => {
          state.shown[i].fill(on);
          for (const one of boxes) one.checked = on;
          redraw();
        }).setAttribute("aria-label", `${text} of ${first.axes[i].name}`);
      }
      curves.append(field);
    }
  };

  const note = document.getElementById("over-time-note");
  tools(document.getElementById("over-time-tools"), parts["over-time"], "over time");
  tools(document.getElementById("against-tools"), parts.against, "against");
  const when = slider(
    document.getElementById("against-tools"), "at time", first.times.length, state.time,
    (i) => `t = ${short(first.times[i])}`, (i) => {
      state.time = i;
      redraw();
    },
  );
  const heads = () => [
    ...(runs.length > 1 ? ["run"] : []), ...first.varying.map((i) => first.axes[i].name),
    "t", "median", "10 %", "90 %", "networks",
  ];
  const rowsAt = (times) => () =>
    runs.flatMap((run, r) => {
      const quantity = quantityOf(run);
      if (!quantity) return [];
      const T = quantity.hasTime ? run.times.length : 1;
      return chosen(run, state).flatMap((curve) =>
        (quantity.hasTime ? times(T) : [0]).map((i) => {
          const row = at(quantity, curve.cell * T + i);
          const t = quantity.hasTime ? run.times[i] : run.times[run.times.length - 1];
          return [
            ...(runs.length > 1 ? ["AB"[r]] : []),
            ...run.varying.map((k) => run.axes[k].texts[curve.places[k]]),
            ...[t, row.middle, row.low, row.high].map(short), `${row.count} of ${run.members}`,
          ];
        }));
    });
  const tables = [
    folded(document.getElementById("over-time-table"), "The curves over time, as a table", heads,
      rowsAt((T) => [...Array(T).keys()])),
    folded(document.getElementById("against-table"), "The values at that time, as a table", heads,
      rowsAt((T) => [Math.min(state.time, T - 1)])),
  ];

  const panels = (title, made) => {
    const y = { ...axis(made.yTitle, state.logY) };
    const form = { xaxis: made.x, yaxis: y };
    if (runs.length === 1) return layout(form);
    const stacked = isStacked();
    form.xaxis = { ...made.x, domain: stacked ? [0, 1] : [0, 0.46] };
    form.xaxis2 = { ...made.x, domain: stacked ? [0, 1] : [0.54, 1], anchor: "y2", matches: "x" };
    form.yaxis = { ...y, domain: stacked ? [0.58, 1] : [0, 1] };
    form.yaxis2 = {
      ...y, domain: stacked ? [0, 0.42] : [0, 1], anchor: "x2", matches: "y",
      title: { text: "" },
    };
    const name = (text, ax) => ({
      text, showarrow: false, font: { size: 14 }, xref: `${ax} domain`, x: 0,
      yref: `${ax.replace("x", "y")} domain`, y: 1.02, yanchor: "bottom",
    });
    form.annotations = [name("<b>A</b>", "x"), name("<b>B</b>", "x2")];
    return layout(form);
  };

  // A click on a network shows it.
  const listen = (place) => {
    if (place.dataset.listens) return;
    place.dataset.listens = "yes";
    place.on("plotly_click", ({ points }) => {
      const who = points[0] && points[0].customdata;
      if (who && choose) choose(who[0], who[1]);
    });
  };

  const redraw = () => {
    const quantity = quantityOf(first);
    const profile = profileOf(first);
    if (!quantity && !profile) return;
    const isOver = !profile && quantity.hasTime;
    const isAgainst = Boolean(profile) || state.x !== -1;
    document.getElementById("over-time-figure").hidden = !isOver;
    document.getElementById("against-figure").hidden = !isAgainst;
    document.getElementById("against-table").hidden = Boolean(profile);
    when.input.parentElement.hidden = !isOver;
    const name = titled(profile || quantity);
    meaningOf(document.getElementById("meaning"), profile || quantity);
    const isClicked = !profile && state.members !== "bands";
    const clicked = isClicked
      ? "Click a network, a thin line or a point, to see it below."
      : "To click a single network, choose “networks” at Show.";
    const isPointed = chosen(first, state).some((curve) => !curve.hasBand);
    document.getElementById("point-hint").textContent =
      `Point at a curve for its numbers${isPointed ? " and its band" : ""}. ${choose ? clicked : ""}`;
    if (isOver) {
      const made = overTime(runs, state, quantityOf);
      made.x = axis("time t", state.logX);
      made.yTitle = titled(profile || quantity);
      note.textContent = made.note;
      const said = `${name} over time, one curve per cell`;
      draw(parts["over-time"], made.traces, panels(name, made), said, () => listen(parts["over-time"]));
    } else note.textContent = "";
    if (isAgainst) {
      const made = against(runs, state, quantityOf, profileOf);
      const ax = profile ? { isNumber: true, values: [] } : first.axes[state.x];
      const title = profile ? spaced(profile.dim) : ax.name;
      made.x = axis(title, ax.isNumber && isLogarithmic(ax.values, 8));
      if (!ax.isNumber) Object.assign(made.x, categories(ax.texts));
      else if (ax.values.length && ax.values.length <= 10) {
        Object.assign(made.x, { tickvals: [...ax.values], ticktext: [...ax.texts] });
      }
      made.yTitle = titled(profile || quantity);
      const said = `${name} against ${title}`;
      draw(parts.against, made.traces, panels(name, made), said, () => listen(parts.against));
    }
    document.getElementById("against-title").textContent =
      profile ? `Along ${spaced(profile.dim)}, at the end` :
        state.x === -1 ? "" : `Against ${first.axes[state.x].name}`;
    tables.forEach((fill) => fill());
  };
  what.value = state.name || "";
  marks();
  fit();
  redraw();
  return {
    redraw: () => {
      marks();
      redraw();
    },
  };
};
