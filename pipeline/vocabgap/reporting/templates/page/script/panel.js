/**
 * The panel of one capability. The URL names the open capability (`#cap-...`), so that people can share it
 * and the Back and Forward buttons of the browser work.
 */

const TITLE = document.title;
const KEYS = '123456789abcdefghijklmnopqrstuvwxyz';
// `keyed` are the elements that keys move to, and `shows` functions that show which decisions there are.
const panel = { capability: null, opener: null, keyed: [], shows: [] };

/** Open, fill or close the panel, according to the URL. */
function followAddress() {
  const capability = capabilityInAddress();
  const dialog = document.getElementById('panel');
  if (!capability) {
    dialog.close();
    history.scrollRestoration = 'auto';
    return;
  }
  showInPanel(capability);
  if (!dialog.open) {
    dialog.showModal();
    document.getElementById('panel-title').focus();
  }
}

function capabilityInAddress() {
  return run.byId.get(location.hash.slice(1));
}

/**
 * Follow a link to a capability without the browser: it would later move the focus to the part of the page
 * that the URL names.
 */
function followLink(event) {
  const link = event.target.closest('a[href^="#"]');
  const isPlain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
  const address = link?.getAttribute('href'); // the only way for a link in an SVG
  if (!link || !isPlain || !run.byId.has(address.slice(1))) return;
  event.preventDefault();
  // On Back, the browser would scroll to the old position instead of the focus.
  history.scrollRestoration = 'manual';
  history.pushState({ opened: true }, '', address);
  followAddress();
  panel.opener = link;
}

function showInPanel(capability) {
  const { panel: dialog, 'panel-title': title, 'panel-body': body, 'panel-back': back, 'panel-next': next } =
    named('panel', 'panel-title', 'panel-body', 'panel-back', 'panel-next');
  Object.assign(panel, { capability, keyed: [], shows: [] });
  title.replaceChildren(`${whole(capability.rank)}. `, isolated(capability.label));
  document.title = `${capability.label} – ${TITLE}`;
  body.replaceChildren(...evidenceOf(capability));
  for (const show of panel.shows) show();
  dialog.scrollTop = 0;
  const place = list.found.indexOf(capability);
  document.getElementById('panel-place').textContent =
    place < 0 ? '' : `${whole(place + 1)} of ${whole(list.found.length)}`;
  setUsable([back, place > 0], [next, place >= 0 && place + 1 < list.found.length]);
}

/** Move to another capability of the list. */
function stepInPanel(places) {
  const place = list.found.indexOf(panel.capability);
  const capability = place < 0 ? undefined : list.found[place + places];
  if (!capability) return;
  history.replaceState(history.state, '', `#${capability.id}`);
  const { 'panel-title': title, 'panel-body': body, 'panel-place': where, 'panel-said': said } =
    named('panel-title', 'panel-body', 'panel-place', 'panel-said');
  const losesFocus = body.contains(document.activeElement);
  showInPanel(capability);
  if (losesFocus) title.focus();
  panel.opener = null;
  said.textContent = `${capability.label}: ${where.textContent}`;
}

/** After closing: remove the capability from the URL, and restore the focus. */
function leavePanel() {
  document.title = TITLE;
  if (capabilityInAddress()) {
    // If a link opened the panel, go back in the history, so that Back skips closed panels.
    if (history.state?.opened) history.back();
    else history.replaceState(null, '', location.pathname + location.search);
  }
  if (!panel.opener?.isConnected) turnTo(panel.capability);
  const row = [...document.querySelectorAll('#rows tr')].find((each) => each.dataset.id === panel.capability.id);
  const target = panel.opener?.isConnected ? panel.opener : row?.querySelector('a');
  (target ?? document.getElementById('main')).focus();
  panel.opener = null;
}
