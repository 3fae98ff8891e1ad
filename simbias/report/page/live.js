// While a run goes on: what is stored so far is asked for again, now and then.

const EVERY = 3000;
const STOPPED = "The server does not answer any more: it was stopped, or ended with the run.";

const followed = (renew) => {
  const bar = document.getElementById("progress");
  const said = document.getElementById("progress-said");
  let stamp = null;
  const ask = async () => {
    let state;
    try {
      state = await (await fetch("state", { cache: "no-store" })).json();
    } catch {
      said.textContent = STOPPED;
      setTimeout(ask, EVERY);
      return;
    }
    if (state.gone) {
      said.textContent = state.gone;
      return;
    }
    bar.max = state.members;
    bar.value = state.done;
    said.textContent = state.said;
    if (state.isFinished) {
      said.textContent = `${state.said} Claims and figures are being made.`;
      try {
        await fetch("", { cache: "no-store" });
        location.reload();
      } catch {
        said.textContent = `${state.said} ${STOPPED} The page of the whole run is report.html in its folder.`;
      }
      return;
    }
    if (stamp !== null && state.stamp !== stamp) {
      try {
        await renew(await (await fetch("numbers", { cache: "no-store" })).json());
      } catch (error) {
        said.textContent = `${state.said} (the figures could not be drawn again: ${error.message})`;
      }
    }
    stamp = state.stamp;
    setTimeout(ask, EVERY);
  };
  ask();
};
