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
  dialog.addEventListener('close', leavePanel);
  dialog.addEventListener('click', copyOnClick);
  document.addEventListener('click', followLink);
  document.addEventListener('keydown', onKey);
  window.addEventListener('popstate', followAddress);
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
