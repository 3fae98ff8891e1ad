// When figures are drawn: those in view at once, the others in spare time, or when a
// reader comes to them.  One that is drawn is drawn again at once.

const NEAR = 300;
const waiting = new Map();

const wrong = (error) => {
  document.getElementById("wrong").textContent =
    `The interactive figures could not be drawn: ${error.message}. All else is as it should be.`;
  throw error;
};

// The plotting library is unpacked beside everything else, and run when it is needed,
// which takes longer than all that the page does itself.
const library = inflated(document.getElementById("library").textContent);
let loading = null;
const plotting = () => {
  loading = loading || library.then((bytes) => {
    document.head.append(node("script", {}, new TextDecoder().decode(bytes)));
  });
  return loading;
};

const drawWaiting = async (place) => {
  await plotting();
  const make = waiting.get(place);
  waiting.delete(place);
  if (make) make();
};

const isShown = (place) => place.getClientRects().length > 0;
const isNear = (place) => {
  const { top, bottom } = place.getBoundingClientRect();
  return isShown(place) && bottom > -NEAR && top < innerHeight + NEAR;
};

const watcher = new IntersectionObserver((seen) => {
  for (const { isIntersecting, target } of seen) {
    if (isIntersecting && waiting.has(target)) drawWaiting(target).catch(wrong);
  }
}, { rootMargin: `${NEAR}px` });

// Of many curves, the band of the one that a reader points at: the trace before it.
const POINTED = "band at the pointer";
const pointing = (place) => {
  if (place.dataset.points) return;
  place.dataset.points = "yes";
  const fade = (opacity) => ({ points: [{ curveNumber }] }) => {
    const band = place.data[curveNumber - 1];
    if (band && band.meta === POINTED) Plotly.restyle(place, { opacity }, [curveNumber - 1]);
  };
  place.on("plotly_hover", fade(1));
  place.on("plotly_unhover", fade(0));
};

const draw = (place, traces, form, said, then = () => {}) => {
  place.setAttribute("aria-label", `${said}. Its numbers are in the table below.`);
  const options = { displayModeBar: false, responsive: true, doubleClick: "reset" };
  atDecades(traces, form);
  const make = () => {
    Plotly.react(place, traces, form, options);
    pointing(place);
    then();
  };
  if (place.data) make();
  else {
    waiting.set(place, make);
    watcher.observe(place);
  }
};

const drawInView = async () => {
  for (const place of [...waiting.keys()].filter(isNear)) await drawWaiting(place);
};

const painted = () => new Promise((go) => requestAnimationFrame(() => setTimeout(go)));
const spare = () => new Promise((go) => (window.requestIdleCallback || setTimeout)(go));
const drawRest = async () => {
  await spare();
  await plotting();
  for (;;) {
    const place = [...waiting.keys()].find(isShown);
    if (!place) break;
    await spare();
    await drawWaiting(place);
  }
  root.dataset.drawn = "yes";
};

// On paper all of them.
addEventListener("beforeprint", () => {
  if (!window.Plotly) return;
  for (const [place, make] of [...waiting].filter(([place]) => isShown(place))) {
    waiting.delete(place);
    make();
  }
});

// Buttons below a figure.
const tools = (parent, place, name) => {
  button(parent, "Whole view", () => {
    if (!place.layout) return;
    const reset = Object.keys(place.layout).filter((key) => /^[xy]axis\d*$/.test(key));
    Plotly.relayout(place, Object.fromEntries(reset.map((key) => [`${key}.autorange`, true])));
  });
  button(parent, "Save as SVG", () => {
    if (place.layout) Plotly.downloadImage(place, { format: "svg", filename: name, width: 720, height: 480 });
  });
};
