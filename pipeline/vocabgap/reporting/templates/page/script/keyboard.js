/** Further keys: `/` moves to the search, arrows to the next or previous capability, digits and letters to choices. */

function onKey(event) {
  if (event.key === 'z' && event.ctrlKey !== event.metaKey && !event.altKey && !isTyping(event) && run.deciding !== null) {
    event.preventDefault();
    undo();
  }
  if (event.ctrlKey || event.altKey || event.metaKey || event.shiftKey && event.key !== '/') return;
  if (document.getElementById('panel').open) (event.key.length > 1 ? stepOnArrow : moveToChoice)(event);
  else searchOnSlash(event);
}

function stepOnArrow(event) {
  const places = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!places || isTyping(event)) return;
  event.preventDefault();
  stepInPanel(places);
}

function moveToChoice(event) {
  const choice = panel.keyed[KEYS.indexOf(event.key)];
  if (!choice || !isFreeKey(event)) return;
  event.preventDefault();
  const folded = choice.closest('details');
  if (folded) folded.open = true;
  choice.focus();
}

/** A single key must be possible to turn off; the style sheet hides that option where the media query matches. */
function isFreeKey(event) {
  const { matches: hasNoKeys } = matchMedia('(max-width: 47rem), (hover: none) and (pointer: coarse)');
  return !isTyping(event) && !hasNoKeys && document.getElementById('f-slash').checked;
}

function searchOnSlash(event) {
  if (event.key !== '/' || !isFreeKey(event)) return;
  event.preventDefault();
  document.getElementById('f-text').focus();
}

function isTyping(event) {
  return event.target.matches('input:not([type=checkbox]), select, textarea');
}
