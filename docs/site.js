// The theme makes these when the page is open: wide tables, which the keyboard has to reach, and the bars of
// code blocks, each of which needs a name of its own.
document.addEventListener("DOMContentLoaded", () => {
  new MutationObserver(named).observe(document.body, { childList: true, subtree: true });
  named();
});

function named() {
  document.querySelectorAll(".md-typeset__scrollwrap:not([tabindex])").forEach((wide) => (wide.tabIndex = 0));
  document.querySelectorAll(".md-code__nav").forEach((bar, n) => {
    if (!bar.ariaLabel) bar.ariaLabel = `Code block ${n + 1}`;
  });
}
