// The theme makes these when the page is open: wide tables, which the keyboard has to reach, and the bars of
// code blocks, each of which needs a name of its own.
document.addEventListener("DOMContentLoaded", () => {
  // A page follows its own switch of colours, and so do its pictures.
  new MutationObserver(lit).observe(document.body, { attributeFilter: ["data-md-color-scheme"] });
  lit();
  new MutationObserver(named).observe(document.body, { childList: true, subtree: true });
  named();
});

function lit() {
  const media = document.body.dataset.mdColorScheme === "slate" ? "all" : "not all";
  document.querySelectorAll("picture > source").forEach((dark) => (dark.media = media));
}

function named() {
  document.querySelectorAll(".md-typeset__scrollwrap:not([tabindex])").forEach((wide) => (wide.tabIndex = 0));
  document.querySelectorAll(".md-code__nav").forEach((bar, n) => {
    if (!bar.ariaLabel) bar.ariaLabel = `Code block ${n + 1}`;
  });
}
