// Clusters of a member's neurons: how each one looks, and how many there are over time.

const NO_CLUSTER = 255;
const TOLD_APART = 6;

// [name, colour, symbol, opacity] of a cluster by its rank in mass; the last two are
// of lighter clusters and of neurons that hardly weigh anything.
const clusterLooks = (shares) => {
  const known = DISTINCT[isDark() ? "dark" : "light"];
  const looks = shares.slice(0, TOLD_APART).map((share, rank) => [
    `${rank + 1}: ${short(100 * share)} %`, known[rank], MARKS[rank], 0.8]);
  looks.push(["lighter clusters", inked("muted"), "circle", 0.6]);
  looks.push(["no mass", inked("muted"), "circle-open", 0.4]);
  return looks;
};

const lookOf = (rank, count) => {
  const apart = Math.min(count, TOLD_APART);
  return rank === NO_CLUSTER ? apart + 1 : Math.min(rank, apart);
};

// Shares of the mass by rank, of the neurons in the page.
const clusterShares = (ranks, masses) => {
  const shares = [];
  let total = 0;
  ranks.forEach((rank, j) => {
    const mass = Math.abs(masses[j]);
    if (!Number.isFinite(mass)) return;
    total += mass;
    if (rank === NO_CLUSTER) return;
    while (shares.length <= rank) shares.push(0);
    shares[rank] += mass;
  });
  return shares.map((share) => share / (total || 1));
};

const clustersSaid = (count) => {
  if (!Number.isFinite(count)) return "";
  return `Clusters at this time: ${short(count)} (neurons within 1° of another, with over 0.1 % of the mass).`;
};
