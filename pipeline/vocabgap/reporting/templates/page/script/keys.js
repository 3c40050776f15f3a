/** Keys, while the focus is in the list, in the evidence or, as at first, nowhere. */

const STEPS = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 };

function onKey(event) {
  const isPlain = !event.altKey && !event.ctrlKey && !event.metaKey;
  const isUndo = event.key === 'z' && !event.altKey;
  const isHere = event.target.closest('#needs, #evidence') || event.target.matches('body[data-view=needs]');
  if (!isHere || event.target.matches('input:not([type=checkbox])') || !(isPlain || isUndo)) return;
  const does = keyed(event);
  if (!does) return;
  event.preventDefault();
  does();
}

/** What a key does. */
function keyed({ key, target }) {
  // In the evidence, arrows scroll.
  if (key in STEPS) return key.length > 1 && !target.closest('#needs') ? null : () => step(STEPS[key]);
  if (key === '/') return () => part('filter')?.focus();
  if (key === 'z' && run.deciding !== null) return undo;
  if (key === 'Escape' && target.closest('#evidence')) return NARROW.matches ? goBack : focusRow;
  const pressed = document.querySelector(`#evidence [aria-keyshortcuts="${CSS.escape(key)}"]`);
  return pressed && (() => pressed.click());
}
