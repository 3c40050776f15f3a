/** Everything is set going here, once the rest of the page is there. */

function start() {
  document.documentElement.classList.add('js');
  if (!run.capabilities.length) return;
  const { filters, ranking, panel: dialog } = named('filters', 'ranking', 'panel');
  makeSortable(ranking);
  makeFilters(filters);
  filters.addEventListener('input', relist);
  filters.addEventListener('submit', (event) => event.preventDefault());
  onPress('f-clear', () => { filters.reset(); relist(); });
  onPress('page-back', () => turn(-1));
  onPress('page-next', () => turn(1));
  onPress('panel-back', () => stepInPanel(-1));
  onPress('panel-next', () => stepInPanel(1));
  onPress('panel-close', () => dialog.close());
  dialog.addEventListener('close', leavePanel);
  document.addEventListener('click', onClick);
  document.addEventListener('keydown', onKey);
  window.addEventListener('hashchange', followChange);
  relist();
  followAddress();
  performance.mark('usable');
}

function onPress(identifier, does) {
  document.getElementById(identifier).addEventListener('click', does);
}

function onClick(event) {
  const copy = event.target.closest('button.copy');
  if (copy) copyFrom(copy);
  const link = event.target.closest('a[href^="#"]');
  if (link) panel.opener = link;
}

start();
