/** Further keys: `/` moves to the search, and arrows move to the next or previous capability. */

function onKey(event) {
  if (event.ctrlKey || event.altKey || event.metaKey || event.shiftKey && event.key !== '/') return;
  if (document.getElementById('panel').open) stepOnArrow(event);
  else searchOnSlash(event);
}

function stepOnArrow(event) {
  const places = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!places || isTyping(event)) return;
  event.preventDefault();
  stepInPanel(places);
}

function searchOnSlash(event) {
  // A single key must be possible to turn off; the style sheet hides that option where this matches.
  const { matches: hasNoKeys } = matchMedia('(max-width: 47rem), (hover: none) and (pointer: coarse)');
  if (event.key !== '/' || isTyping(event) || hasNoKeys || !document.getElementById('f-slash').checked) return;
  event.preventDefault();
  document.getElementById('f-text').focus();
}

function isTyping(event) {
  return event.target.matches('input:not([type=checkbox]), select, textarea');
}
