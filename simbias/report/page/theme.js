// Light or dark: what the reader's machine asks for, unless the button says otherwise.

const root = document.documentElement;
const isDark = () =>
  root.dataset.theme === "dark" ||
  (root.dataset.theme === undefined && matchMedia("(prefers-color-scheme: dark)").matches);

// The colour that a variable of the style sheet stands for now.
const inked = (name) => {
  const probe = document.getElementById("probe");
  probe.style.color = `var(--${name})`;
  return getComputedStyle(probe).color;
};

const themed = (redraw) => {
  const button = document.getElementById("theme");
  const say = () => {
    button.textContent = isDark() ? "Light theme" : "Dark theme";
  };
  button.hidden = false;
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    say();
    redraw();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    say();
    redraw();
  });
  say();
  let before;
  addEventListener("beforeprint", () => {
    before = root.dataset.theme;
    root.dataset.theme = "light";
    redraw();
  });
  addEventListener("afterprint", () => {
    if (before === undefined) delete root.dataset.theme;
    else root.dataset.theme = before;
    redraw();
  });
};
