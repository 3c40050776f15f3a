/** The buttons of a need, and the form of a decision that needs a text or a choice. */

// The key and the name of each action, its meaning, and the field of its text or the choices that it offers.
const ACTIONS = {
  author: { key: 'a', name: 'Authored', done: 'authored', about: 'It has an entry now', field: 'entry' },
  claim: { key: 'm', name: 'Mine', done: 'claimed', about: 'I author it' },
  reopen: { key: 'o', name: 'Reopen', done: 'reopened', about: 'It is open again' },
  dismiss: { key: 'd', name: 'Dismiss', done: 'dismissed', about: 'It needs no entry', field: 'reason' },
  pin: { key: 'p', name: 'Pin', done: 'pinned', about: 'Keep it first' },
  merge: { key: 'g', name: 'Merge…', done: 'merged', about: 'Others are this need, too', ticks: neighboursOf },
  split: { key: 's', name: 'Split…', done: 'split', about: 'It has several needs', ticks: partsOf },
  rename: { key: 'r', name: 'Rename', done: 'renamed', about: 'Change its name', field: 'label' },
};

/** The buttons, without that which renames, and the form that some of them open. */
function actionsFor(need) {
  if (run.deciding === null) return [];
  const statuses = need.group === 'settled' ? ['reopen'] : ['author', need.status === 'claimed' ? 'reopen' : 'claim', 'dismiss'];
  const all = [...statuses, ...(need.pinned ? [] : ['pin']), 'merge', 'split'];
  const usable = all.filter((action) => !ACTIONS[action].ticks || ACTIONS[action].ticks(need).length);
  return [make('p', { class: 'acts' }, ...usable.map((action) => buttonFor(action, need))),
    make('form', { id: 'asking', hidden: '' })];
}

function buttonFor(action, need) {
  const { key, name, about, field, ticks } = ACTIONS[action];
  const pressed = () => {
    if (field || ticks) ask(action, need, made);
    else setDecided(decision(action, need), !decided(decision(action, need)));
  };
  const made = button(action === 'reopen' && need.group !== 'settled' ? 'Release' : name, pressed,
    { 'data-action': action, 'aria-keyshortcuts': key, title: about });
  made.append(make('kbd', { 'aria-hidden': 'true' }, key));
  return made;
}

/** Show on the buttons, the ticks and the rows what is decided. */
function showDecided() {
  const need = list.selected;
  if (!need || run.deciding === null) return;
  const own = decisionsAbout(need).map(({ action }) => action);
  for (const each of document.querySelectorAll('#evidence [data-action]')) {
    each.setAttribute('aria-pressed', own.includes(each.dataset.action));
  }
  const about = new Set(decisions().map(({ capability }) => capability.capability_id));
  for (const row of document.querySelectorAll('#needs tr[data-id]')) {
    if (about.has(row.dataset.id) || row.querySelector('.own')) row.querySelector('.marks').replaceWith(marksOf(run.byId.get(row.dataset.id)));
  }
}

function identified({ id, label }) {
  return { capability_id: id, label };
}

function decision(action, need, details = {}) {
  return { run: run.now, action, capability: identified(need), ...details };
}

/** Ask for the text of a decision, or let a person tick. The focus returns to where it was, or to the button. */
function ask(action, need, opener) {
  const form = part('asking');
  const focused = document.activeElement;
  const isElsewhere = focused.matches('body, [data-action]') || form.contains(focused); // some browsers focus no button
  const before = isElsewhere ? opener : focused;
  const close = () => {
    form.hidden = true;
    (before.isConnected ? before : part('need')).focus();
  };
  form.replaceChildren(...(ACTIONS[action].ticks ? ticksOf(action, need) : fieldOf(action, need)));
  form.onsubmit = (event) => {
    event.preventDefault();
    const { field } = ACTIONS[action];
    const text = field && form.querySelector('input').value.trim();
    if (field && !text) return;
    if (field) setDecided(decision(action, need, { [field]: text }), true);
    close();
  };
  form.onkeydown = (event) => {
    if (event.key !== 'Escape') return;
    event.preventDefault();
    event.stopPropagation();
    close();
  };
  form.hidden = false;
  const first = form.querySelector('input');
  first.focus();
  if (first.type !== 'checkbox') first.select();
}

function fieldOf(action, need) {
  const { field } = ACTIONS[action];
  const input = make('input', { id: 'asked', required: '', autocomplete: 'off' });
  input.value = decided(decision(action, need))?.[field] ?? (action === 'rename' ? need.label : '');
  return [make('label', { for: 'asked' }, capital(field)), input, make('button', {}, 'Add')];
}

/** A box for each thing to merge or to split off, and what the need would then have. */
function ticksOf(action, need) {
  const preview = make('span', { role: 'status' });
  const boxes = ACTIONS[action].ticks(need).map(([details, mentions, words, percent]) => {
    const answer = decision(action, need, details);
    const box = make('input', { type: 'checkbox' });
    const likely = percent === null ? '' : `, ${percent} %`;
    box.addEventListener('change', () => { setDecided(answer, box.checked); show(); });
    return { answer, box, mentions, label: make('label', {}, box, make('span', {}, ...words, ` (${whole(mentions)}${likely})`)) };
  });
  const show = () => {
    for (const each of boxes) each.box.checked = Boolean(decided(each.answer));
    const sign = action === 'merge' ? 1 : -1;
    const change = boxes.reduce((sum, { box, mentions }) => sum + (box.checked ? sign * mentions : 0), 0);
    preview.textContent = change ? `${whole(need.mentions)} → ${counted(need.mentions + change, 'mention')}` : '';
  };
  show();
  const legend = action === 'merge' ? 'The same need' : 'Another need';
  const items = boxes.map(({ label }) => make('li', {}, label));
  return [make('fieldset', {}, make('legend', {}, legend), make('ul', {}, ...items)), make('button', {}, 'Done'), preview];
}

function neighboursOf(need) {
  return need.neighbours.map(([place, percent]) => {
    const other = run.capabilities[place];
    return [{ other: identified(other) }, other.mentions, [isolated(other.label)], percent];
  });
}

/** The likely parts of a need, and its other wordings; without those that may be cut. */
function partsOf(need) {
  if (need.variants.length < 2) return [];
  const parts = need.parts.map(([mentions, part, percent]) => {
    // The page has the whole wording instead of its position if it cuts the wording or the list.
    const wordings = part.map((each) => (typeof each === 'number' ? need.variants[each][0] : each));
    const words = [isolated(wordings[0].slice(0, run.limits.characters)), likeIt(wordings)];
    return [{ wordings }, mentions, words, percent];
  });
  const alone = new Set(parts.flatMap(([{ wordings }]) => (wordings.length === 1 ? wordings : [])));
  const whole = need.variants.filter(([wording]) => wording.length < run.limits.characters && !alone.has(wording));
  return [...parts, ...whole.map(([wording, mentions]) => [{ wordings: [wording] }, mentions, [isolated(wording)], null])];
}
