/** Keys beside those that browsers know: `/` to the search, and the arrows from one capability to the next. */

function onKey(event) {
  if (event.ctrlKey || event.altKey || event.metaKey || event.shiftKey && event.key !== '/') return;
  if (document.getElementById('panel').open) stepOnArrow(event);
  else searchOnSlash(event);
}

function stepOnArrow(event) {
  const places = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!places) return;
  event.preventDefault();
  stepInPanel(places);
}

function searchOnSlash(event) {
  const isTyping = event.target.matches('input:not([type=checkbox]), select, textarea');
  const slash = document.getElementById('f-slash');
  // A key without another one is only for who sees where it can be turned off.
  if (event.key !== '/' || isTyping || !slash.checked || !slash.checkVisibility()) return;
  event.preventDefault();
  document.getElementById('f-text').focus();
}
