/**
 * The decisions of a person, until a command records them. The browser stores them for this page, so
 * they survive a reload. Each is a line of the file that `vocabgap decide apply` reads.
 */

const KEY = `vocabgap decisions ${location.pathname}`;
const STATUS = ['dismiss', 'author', 'reopen', 'claim'];
const FIRST = ['split', 'merge']; // their lines come first
const undoable = []; // before each change of this visit
let unstored = null; // if the browser stores nothing for this page

function decisions() {
  try {
    return unstored ?? JSON.parse(localStorage.getItem(KEY) ?? '[]');
  } catch {
    return [];
  }
}

function keep(all) {
  undoable.push(decisions());
  store(all);
}

/** Take the last change of the decisions back. */
function undo() {
  if (!undoable.length) return;
  store(undoable.pop());
  const { 'panel-undo': button, 'panel-title': title, 'panel-said': said } = named('panel-undo', 'panel-title', 'panel-said');
  if (button.hidden && (document.activeElement === button || document.activeElement === document.body)) title.focus();
  said.textContent = `Undone: ${counted(decisions().length, 'decision', 'decisions')} left`;
}

function store(all) {
  try {
    localStorage.setItem(KEY, JSON.stringify(all));
  } catch {
    unstored = all;
  }
  showBasket();
}

/** What a decision is about: a new decision replaces an earlier one about the same. */
function topic({ action, capability: { capability_id: own }, other, wordings }) {
  if (action === 'merge') return [action, ...[own, other.capability_id].sort()].join();
  return [STATUS.includes(action) ? 'status' : action, own, ...(wordings ?? [])].join('\n');
}

/** Add a decision about a capability, or remove it. */
function setDecided(decision, isDecided) {
  const others = decisions().filter((each) => topic(each) !== topic(decision) && !sharesWording(each, decision));
  keep(isDecided ? [...others, decision] : others);
}

/** Two splits of a capability cannot both move a wording. */
function sharesWording(one, other) {
  return one.capability.capability_id === other.capability.capability_id
    && Boolean(one.wordings?.some((each) => other.wordings?.includes(each)));
}

function decided(decision) {
  return decisions().find((each) => topic(each) === topic(decision) && each.action === decision.action);
}

function startBasket() {
  onPress('basket-copy', copyCommand);
  onPress('basket-save', saveFile);
  onPress('basket-clear', () => { keep([]); document.getElementById('list-title').focus(); });
  onPress('panel-basket', openBasket);
  onPress('panel-undo', undo);
  window.addEventListener('storage', showBasket); // another window shows the same page
  try {
    showBasket();
  } catch {
    store([]); // another page of this place has overwritten them
  }
}

/** Close the panel and move to the decisions. */
function openBasket() {
  const { basket, 'basket-count': head, panel: dialog } = named('basket', 'basket-count', 'panel');
  basket.firstElementChild.open = true;
  panel.opener = head;
  dialog.close();
  basket.scrollIntoView();
}

function showBasket() {
  const all = decisions();
  const { 'basket-count': head, 'basket-lines': list, 'basket-note': note, 'panel-basket': inPanel, ...others } =
    named('basket-count', 'basket-lines', 'basket-note', 'panel-basket', 'basket', 'to-basket');
  for (const each of [inPanel, ...Object.values(others)]) each.hidden = !all.length;
  document.getElementById('panel-undo').hidden = !undoable.length;
  for (const show of panel.shows) show();
  head.textContent = counted(all.length, 'decision', 'decisions');
  inPanel.textContent = head.textContent;
  list.replaceChildren(...all.map(lineOf));
  const old = all.filter((each) => each.run !== run.now).length;
  const fromElsewhere = `${counted(old, 'decision comes', 'decisions come')} from another run of this report. `;
  note.replaceChildren(
    old ? `${fromElsewhere}Remove what was recorded already. ` : '',
    unstored ? 'This browser stores nothing for this page: copy or save the decisions before you close it.' : '');
  document.getElementById('basket-said').textContent = '';
  document.getElementById('basket-command').hidden = true;
}

function lineOf(decision, place) {
  const words = inWords(decision);
  const remove = make('button', { type: 'button' }, 'Remove');
  remove.addEventListener('click', () => {
    setDecided(decision, false);
    const buttons = document.querySelectorAll('#basket-lines button');
    (buttons[Math.min(place, buttons.length - 1)] ?? document.getElementById('list-title')).focus();
  });
  const line = make('li', {}, make('span', { id: `basket-${place}` }, ...words), ' ', remove);
  remove.setAttribute('aria-describedby', `basket-${place}`);
  return line;
}

function inWords({ action, capability, other, wordings, label, entry, reason }) {
  const about = quoted(capability.label);
  return {
    merge: () => ['Merge ', quoted(other.label), ' into ', about],
    split: () => ['Split ', quoted(wordings[0]), `${likeIt(wordings)} off `, about],
    rename: () => ['Rename ', about, ' to ', quoted(label)],
    author: () => ['Author ', about, ' as ', quoted(entry)],
    dismiss: () => ['Dismiss ', about, ': ', isolated(reason)],
    pin: () => ['Pin ', about],
    reopen: () => ['Reopen ', about],
    claim: () => ['Claim ', about],
  }[action]();
}

function likeIt({ length }) {
  return length > 1 ? ` and ${whole(length - 1)} like it` : '';
}

function quoted(text) {
  return isolated(`“${text}”`);
}

/**
 * The decisions as lines of JSON, splits and merges first. They have only printable ASCII characters and no
 * single quote, so that a shell takes them as they are between single quotes.
 */
function lines() {
  const isFirst = ({ action }) => FIRST.indexOf(action) + 1 || FIRST.length + 1;
  const escaped = (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return decisions().sort((one, other) => isFirst(one) - isFirst(other))
    .map((each) => JSON.stringify(each).replace(/[^ -~]|'/g, escaped));
}

function applying(source) {
  return ['vocabgap decide apply', source, run.deciding].filter(Boolean).join(' ');
}

async function copyCommand() {
  const text = `'${lines().join('\n')}' | ${applying('-')}`;
  // PowerShell prints a text as it is.
  const command = /^win/i.test(navigator.platform) ? text : `printf '%s\\n' ${text}`;
  const said = await copied(command, document.getElementById('basket-command'))
    ? 'Copied: paste it into a terminal.' : 'Selected: copy it with the keyboard.';
  document.getElementById('basket-said').textContent = said;
}

/** Save the lines as a file; different lines get different names. */
function saveFile() {
  const content = lines().map((line) => `${line}\n`).join('');
  const digest = [...content].reduce((sum, sign) => (sum * 31 + sign.charCodeAt(0)) >>> 0, 0).toString(16);
  const name = `decisions-${run.now.slice(0, 10)}-${digest}.jsonl`;
  const address = URL.createObjectURL(new Blob([content], { type: 'application/jsonl' }));
  make('a', { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
  document.getElementById('basket-said').replaceChildren('Saved. Then run ', make('code', {}, applying(name)), '.');
}
