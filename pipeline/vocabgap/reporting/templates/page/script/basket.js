/**
 * The decisions of a person, until a command records them. The browser stores them for this page, so
 * they survive a reload. Each is a line of the file that `vocabgap decide apply` reads.
 */

const KEY = `vocabgap decisions ${location.pathname}`;
const STATUS = ['dismiss', 'author', 'reopen', 'claim'];
const FIRST = ['split', 'merge']; // their lines come first
const undoable = []; // the changes of this visit: decisions that were added and removed
let unstored = null; // if the browser stores nothing for this page

function decisions() {
  try {
    const all = unstored ?? JSON.parse(localStorage.getItem(KEY) ?? '[]');
    return all.every((each) => topic(each) && each.action in ACTIONS) ? all : [];
  } catch { // another page of this place has overwritten them
    return [];
  }
}

function decisionsAbout({ id }) {
  return run.deciding === null ? [] : decisions().filter(({ capability }) => capability.capability_id === id);
}

function keep(all) {
  const before = decisions();
  undoable.push({ added: lacking(all, before), removed: lacking(before, all) });
  store(all);
}

/** Take the last change of this window back; what another window decided since then stays. */
function undo() {
  const change = undoable.pop();
  if (change) store([...lacking(decisions(), change.added), ...change.removed]);
}

/** The decisions that are not among others. */
function lacking(all, others) {
  const known = new Set(others.map((each) => JSON.stringify(each)));
  return all.filter((each) => !known.has(JSON.stringify(each)));
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

/** Add a decision about a need, or remove it. */
function setDecided(decision, isDecided) {
  const others = decisions().filter((each) => topic(each) !== topic(decision) && !sharesWording(each, decision));
  keep(isDecided ? [...others, decision] : others);
}

/** Two splits of a need cannot both move a wording. */
function sharesWording(one, other) {
  return one.capability.capability_id === other.capability.capability_id
    && Boolean(one.wordings?.some((each) => other.wordings?.includes(each)));
}

function decided(decision) {
  return decisions().find((each) => topic(each) === topic(decision) && each.action === decision.action);
}

function startBasket() {
  const presses = { copy: copyCommand, save: saveFile, undo, clear: () => { keep([]); focusRow(); } };
  for (const [name, does] of Object.entries(presses)) part(`basket-${name}`).addEventListener('click', does);
  window.addEventListener('storage', showBasket); // another window shows the same page
  showBasket();
}

function showBasket() {
  const all = decisions();
  part('basket-lines').replaceChildren(...all.map(lineOf));
  part('basket-count').textContent = counted(all.length, 'decision');
  const old = all.filter((each) => each.run !== run.now).length;
  const fromElsewhere = `${counted(old, 'decision comes', 'decisions come')} from another run. Remove what was recorded already. `;
  part('basket-note').replaceChildren(old ? fromElsewhere : '', unstored ? 'This browser stores nothing: copy or save before you close the page.' : '');
  const [texts, applies] = command();
  part('basket-command').replaceChildren(make('span', {}, texts), applies);
  for (const id of ['basket-command', 'basket-copy', 'basket-save', 'basket-clear']) part(id).hidden = !all.length;
  part('basket-undo').hidden = !undoable.length;
  part('basket').hidden = !all.length && !undoable.length;
  part('basket-said').textContent = '';
  showDecided();
}

function lineOf(decision, place) {
  const remove = button('Remove', () => {
    setDecided(decision, false);
    const buttons = document.querySelectorAll('#basket-lines button');
    if (buttons.length) buttons[Math.min(place, buttons.length - 1)].focus();
    else focusRow();
  }, { 'aria-describedby': `basket-${place}` });
  return make('li', {}, make('span', { id: `basket-${place}` }, ...inWords(decision)), ' ', remove);
}

function inWords({ action, capability, other, wordings, label, entry, reason }) {
  const detail = other?.label ?? wordings?.[0] ?? label ?? entry ?? reason;
  const after = detail === undefined ? [] : [': ', quoted(detail), likeIt(wordings ?? [])];
  return [`${capital(ACTIONS[action].done)} `, quoted(capability.label), ...after];
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

/** The command in two parts: what prints the decisions, and what records them. */
function command() {
  const text = `'${lines().join('\n')}'`;
  // PowerShell prints a text as it is.
  return [/^win/i.test(navigator.platform) ? text : `printf '%s\\n' ${text}`, ` | ${applying('-')}`];
}

/** Copy the command: through the clipboard if the page may use it, else by selecting what shows it. */
async function copyCommand() {
  const isCopied = await navigator.clipboard?.writeText(command().join('')).then(() => true, () => false);
  // Browsers allow it only for local pages and over HTTPS, and a person may refuse it. This is the older way:
  if (!isCopied) getSelection().selectAllChildren(part('basket-command'));
  const said = isCopied || document.execCommand('copy') ? 'Copied: paste it into a terminal.' : 'Selected: copy it.';
  part('basket-said').textContent = said;
}

/** Save the lines as a file; different lines get different names. */
function saveFile() {
  const content = lines().map((line) => `${line}\n`).join('');
  const digest = [...content].reduce((sum, sign) => (sum * 31 + sign.charCodeAt(0)) >>> 0, 0).toString(16);
  const name = `decisions-${run.now.slice(0, 10)}-${digest}.jsonl`;
  const address = URL.createObjectURL(new Blob([content], { type: 'application/jsonl' }));
  make('a', { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
  part('basket-said').replaceChildren('Saved. Then run ', code(applying(name)));
}
