/** Everything is set going here, once the rest of the page is there. */

function start() {
  document.documentElement.classList.add('js');
  if (!run.capabilities.length) return;
  const { filters, ranking, panel: dialog } = named('filters', 'ranking', 'panel');
  makeSortable(ranking);
  makeFilters(filters);
  filters.addEventListener('input', relist);
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
  relist();
  followAddress();
  performance.mark('usable');
}

function onPress(identifier, does) {
  document.getElementById(identifier).addEventListener('click', does);
}

start();
