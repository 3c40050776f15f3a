/** Everything is set going here, once the rest of the page is there. */

function start() {
  if (run.capabilities.length) startList();
  // What is for who runs no script goes last: should any of this fail, the page is read as it was written.
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
  performance.mark('usable'); // what the benchmark of the page waits for, and its test
}

function onPress(identifier, does) {
  document.getElementById(identifier).addEventListener('click', does);
}

start();
