// The numbers of a run, unpacked once.

const KINDS = { f4: Float32Array, f8: Float64Array, u1: Uint8Array };

const inflated = async (text) => {
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  const stream = new Blob([bytes]).stream();
  return new Response(stream.pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
};

const opened = async (described) => {
  const buffer = await inflated(described.packed);
  const read = ([first, kind, shape]) => ({
    values: new KINDS[kind](buffer, first, shape.reduce((a, b) => a * b, 1)),
    shape,
  });
  const known = ["low", "middle", "high", "count", "members", "mean", "pairs", "at"];
  const unpacked = (one) => {
    const places = known.filter((key) => Array.isArray(one[key]) && Array.isArray(one[key][2]));
    return { ...one, ...Object.fromEntries(places.map((key) => [key, read(one[key])])) };
  };
  const run = {
    ...described,
    read,
    packed: null,
    times: read(described.times).values,
    quantities: described.quantities.map(unpacked),
    profiles: (described.profiles || []).map(unpacked),
    arrays: described.arrays || [],
  };
  if (described.status) run.status = read(described.status).values;
  run.sizes = run.axes.map((axis) => axis.values.length);
  run.cells = run.sizes.reduce((a, b) => a * b, 1);
  // Place on every axis of the grid; the last axis moves fastest.
  run.places = (cell) => {
    const out = [];
    for (let i = run.sizes.length - 1; i >= 0; i--) {
      out.unshift(cell % run.sizes[i]);
      cell = Math.floor(cell / run.sizes[i]);
    }
    return out;
  };
  run.cellAt = (places) => places.reduce((cell, place, i) => cell * run.sizes[i] + place, 0);
  run.varying = run.axes.map((_, i) => i).filter((i) => run.sizes[i] > 1);
  run.cellText = (cell) => {
    const places = run.places(cell);
    return run.varying.map((i) => `${run.axes[i].name} = ${run.axes[i].texts[places[i]]}`).join(", ");
  };
  return run;
};

// Four digits; what has no value says so.
const short = (value) => {
  if (value === null || Number.isNaN(value)) return "no value";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  const rounded = Number(value.toPrecision(4));
  const size = Math.abs(rounded);
  const text = size !== 0 && (size < 1e-3 || size >= 1e6) ? rounded.toExponential() : String(rounded);
  return text.replaceAll("-", "−").replace("e+", "e");
};

const spaced = (name) => name.replaceAll("_", " ");

// A pure number has the unit 1, which is not said.
const inUnits = (name, { units }) => (units && units !== "1" ? `${name} (${units})` : name);

const titled = (quantity) => inUnits(quantity.title || spaced(quantity.name), quantity);
