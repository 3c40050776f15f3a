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
  // A key without another one is only for who can turn it off: the style sheet hides that where this matches.
  const { matches: hasNoKeys } = matchMedia('(max-width: 47rem), (hover: none) and (pointer: coarse)');
  if (event.key !== '/' || isTyping || hasNoKeys || !document.getElementById('f-slash').checked) return;
  event.preventDefault();
  document.getElementById('f-text').focus();
}
