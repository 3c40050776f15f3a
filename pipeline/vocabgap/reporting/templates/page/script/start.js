/** Start the scripts when the rest of the page is loaded. */

function start() {
  if (run.capabilities.length) startList();
  // Hide the parts for pages without scripts last: if a step fails, the page stays readable.
  document.documentElement.classList.add('js');
}

function startList() {
  const { filters, ranking, panel: dialog } = named('filters', 'keys', 'ranking', 'panel');
  makeSortable(ranking);
  makeFilters();
  filters.addEventListener('input', relist);
  onPress('f-fold', foldFilters);
  onPress('f-clear', () => { filters.reset(); relist(); });
  onPress('page-back', () => turn(-1));
  onPress('page-next', () => turn(1));
  onPress('panel-back', () => stepInPanel(-1));
  onPress('panel-next', () => stepInPanel(1));
  onPress('panel-close', () => dialog.close());
  if (run.deciding !== null) startBasket();
  dialog.addEventListener('close', leavePanel);
  document.addEventListener('click', followLink);
  document.addEventListener('keydown', onKey);
  window.addEventListener('popstate', followAddress);
  // Without this script, only links to evidence on the page work.
  for (const link of document.querySelectorAll('a[data-id]')) link.setAttribute('href', `#${link.dataset.id}`);
  startMap();
  relist();
  followAddress();
  filters.hidden = false;
  performance.mark('usable'); // the benchmark and a test of the page wait for this
}

function onPress(identifier, does) {
  document.getElementById(identifier).addEventListener('click', does);
}

start();
