// Everything in order.

const begin = async () => {
  const page = JSON.parse(document.getElementById("numbers").textContent);
  const runs = await Promise.all(page.runs.map(opened));
  const parts = [];
  let member = null;
  if (document.getElementById("member")) {
    member = memberSection(runs[0]);
    parts.push(member);
  }
  const choose = member && ((cell, seed) => {
    member.choose(cell, seed);
    document.getElementById("member").scrollIntoView({ behavior: "smooth" });
  });
  if (runs.every((run) => run.quantities.length)) {
    const look = explored(runs, choose);
    parts.unshift(look);
  } else document.getElementById("closer").hidden = true;
  if (page.difference) parts.push(differenceSection(await opened(page.difference)));
  themed(() => parts.forEach((part) => part.redraw()));
  if (page.isLive) {
    followed(async (next) => {
      Object.assign(runs[0], await opened(next));
      parts.forEach((part) => part.redraw());
    });
  }
  root.dataset.ready = "yes";
  if (!document.hidden) await painted();
  await drawInView();
  root.dataset.seen = "yes";
  await drawRest();
};

begin().catch(wrong);
