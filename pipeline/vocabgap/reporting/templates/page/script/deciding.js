/** The part of the panel that asks: which wordings are another need, which groups are the same need? */

// Actions that ask for a text: the field of the decision, and its name.
const ASKED = {
  rename: ['label', 'New label'],
  author: ['entry', 'Entry that was authored'],
  dismiss: ['reason', 'Reason'],
};

const NAMES = { author: 'authored already', pin: 'pin to the top' };

function decidingAbout(capability) {
  const moves = []; // each tick: its answer, box, and the mentions that it moves
  const preview = make('p', { role: 'status' });
  panel.shows.push(() => {
    for (const [answer, box] of moves) box.checked = Boolean(decided(answer));
    const ticked = moves.filter(([, box]) => box.checked);
    const after = ticked.reduce((sum, [, , mentions]) => sum + mentions, capability.mentions);
    const change = `${whole(capability.mentions)} → ${counted(after, 'mention', 'mentions')}`;
    preview.textContent = ticked.length ? change : '';
  });
  const tick = (answer, mentions, ...words) => {
    const box = make('input', { type: 'checkbox' });
    box.addEventListener('change', () => setDecided(answer, box.checked));
    moves.push([answer, box, mentions]);
    return make('li', {}, make('label', {}, keyTo(box), box, make('span', {}, ...words)));
  };
  const likely = (percent) => (percent === null ? '' : `, ${percent} %`);
  const parts = capability.parts.map(([mentions, part, percent]) => {
    // The page has the whole wording instead of its position if it cuts the wording or the list.
    const wordings = part.map((each) => (typeof each === 'number' ? capability.variants[each][0] : each));
    const words = [isolated(wordings[0].slice(0, run.limits.characters)), `${likeIt(wordings)} (${whole(mentions)}${likely(percent)})`];
    return tick(decision('split', capability, { wordings }), -mentions, ...words);
  });
  const neighbours = capability.neighbours.map(([place, percent]) => {
    const other = run.capabilities[place];
    const words = [isolated(other.label), ` (${whole(other.mentions)}${likely(percent)})`];
    return tick(decision('merge', capability, { other: identified(other) }), other.mentions, ...words);
  });
  return make('section', { class: 'decide' }, make('h3', {}, 'Decide'),
    choices(`Split off what does not belong to “${capability.label}”`, parts), choices('Merge what is the same need', neighbours), preview, ...buttons(capability),
    make('p', { class: 'note' }, 'This browser keeps each choice. The command at the end of the page records them.'));
}

function choices(question, items) {
  return items.length ? make('fieldset', {}, make('legend', {}, question), make('ul', {}, ...items)) : null;
}

function identified({ id, label }) {
  return { capability_id: id, label };
}

function decision(action, capability, details = {}) {
  return { run: run.now, action, capability: identified(capability), ...details };
}

/** A button that splits a wording off; none on a page without decisions, or for what may be cut or is all. */
function splittingOff(wording, capability) {
  if (run.deciding === null || wording.length >= run.limits.characters || capability.variants.length < 2) return [];
  const answer = decision('split', capability, { wordings: [wording] });
  const button = make('button', { type: 'button', 'aria-label': `Split off “${wording}”` }, 'Split off');
  button.addEventListener('click', () => setDecided(answer, !decided(answer)));
  panel.shows.push(() => button.setAttribute('aria-pressed', Boolean(decided(answer))));
  button.append(' ', keyTo(button) ?? '');
  return [button];
}

/** The key that moves to an element of the panel, shown beside it; null for the last of very many. */
function keyTo(element) {
  const key = KEYS[panel.keyed.push(element) - 1];
  if (!key) return null;
  element.setAttribute('aria-keyshortcuts', key);
  return make('kbd', { 'aria-hidden': 'true', title: `The key ${key} moves here; Space chooses` }, key);
}

/** Buttons for the other decisions, and a form for those with a text. */
function buttons(capability) {
  const isSettled = capability.group === 'settled';
  const claim = capability.status === 'claimed' ? 'reopen' : 'claim';
  const status = isSettled ? ['reopen'] : ['author', 'dismiss', claim];
  const actions = ['rename', ...status, ...(capability.pin ? [] : ['pin'])];
  const form = make('form', { hidden: '' });
  const all = actions.map((action) => {
    const button = make('button', { type: 'button' }, capital(NAMES[action] ?? action));
    button.dataset.action = action;
    button.addEventListener('click', () => {
      if (ASKED[action]) ask(action, capability, form, () => button.focus());
      else setDecided(decision(action, capability), button.getAttribute('aria-pressed') === 'false');
    });
    return button;
  });
  panel.shows.push(() => all.forEach((button) =>
    button.setAttribute('aria-pressed', Boolean(decided(decision(button.dataset.action, capability))))));
  return [make('p', { class: 'ways' }, ...joined(all.map((each) => [each]), ' ')), form];
}

/** Ask for the text of a decision. */
function ask(action, capability, form, done) {
  const [field, name] = ASKED[action];
  const input = make('input', { id: 'asked', required: '', autocomplete: 'off' });
  input.value = decided(decision(action, capability))?.[field] ?? (action === 'rename' ? capability.label : '');
  const close = () => { form.hidden = true; done(); };
  form.replaceChildren(make('label', { for: 'asked' }, name), ' ', input, ' ', make('button', {}, 'Add'));
  form.onsubmit = (event) => {
    event.preventDefault();
    if (!input.value.trim()) return;
    setDecided(decision(action, capability, { [field]: input.value.trim() }), true);
    close();
  };
  form.onkeydown = (event) => {
    if (event.key !== 'Escape') return;
    event.preventDefault(); // the panel stays open
    close();
  };
  form.hidden = false;
  input.select();
}
