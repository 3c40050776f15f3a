/** Start the scripts when the rest of the page is loaded. */

function start() {
  for (const note of document.querySelectorAll('header .note')) note.replaceChildren(...coded(note.textContent));
  makeViews();
  makeApp();
  if (run.deciding !== null) startBasket();
  document.addEventListener('click', followLink);
  document.addEventListener('keydown', onKey);
  window.addEventListener('popstate', followAddress);
  followAddress();
  // Hide the table for pages without scripts last: if a step fails, the page stays readable.
  document.documentElement.classList.add('js');
  performance.mark('usable'); // the benchmark and a test of the page wait for this
}

start();
