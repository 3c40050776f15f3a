/** Which capabilities are listed. A capability fits if one of its mentions does, for each filter. */

const LISTS = { open: 'To author', covered: 'Probably covered', settled: 'Decided', hidden: 'Too rare so far' };

// Images that are proposed while one is typed; making an element of each of very many would take longer than the page.
const MOST_PROPOSED = 1000;

/** Fill the choices with what occurs, and show the form. */
function makeFilters(form) {
  const fields = filterFields();
  const groups = Object.keys(LISTS).filter((name) => run.capabilities.some((each) => each.group === name));
  offer(fields.group, groups.map((name) => [name, LISTS[name]]), 'All');
  fields.group.options[groups.includes('open') ? 1 : 0].defaultSelected = true;
  offer(fields.status, run.statuses.map((name) => [name, name]), 'Any');
  offer(fields.category, placed(run.categories), 'Any');
  offer(fields.operation, placed(run.operations), 'Any');
  if (run.images.length <= MOST_PROPOSED) {
    document.getElementById('f-images').append(...placed(run.images).map(([, name]) => make('option', { value: name })));
  }
  form.reset();
  form.hidden = false;
}

/** Positions of names with the names, in the order of the alphabet. */
function placed(names) {
  return names.map((name, place) => [String(place), name]).sort((one, other) => COLLATOR.compare(one[1], other[1]));
}

function offer(select, choices, whole) {
  select.append(make('option', { value: '' }, whole));
  select.append(...choices.map(([value, text]) => make('option', { value }, text)));
}

function filterFields() {
  const form = document.getElementById('filters');
  const names = ['text', 'group', 'status', 'category', 'operation', 'image', 'since', 'until'];
  return Object.fromEntries(names.map((name) => [name, form.querySelector(`#f-${name}`)]));
}

/** Those that fit what the form says, and how many more would in another list. */
function filtered() {
  const fields = filterFields();
  const tests = [byStatus, byCategory, byOperation, byImage, byDays, byText].map((make) => make(fields));
  const fitting = run.capabilities.filter((each) => tests.every((test) => test === null || test(each)));
  const group = fields.group.value;
  const found = group ? fitting.filter((each) => each.group === group) : fitting;
  return { found, elsewhere: fitting.length - found.length };
}

function byStatus({ status }) {
  return status.value ? (each) => each.status === status.value : null;
}

function byCategory({ category }) {
  return holding('categories', category.value);
}

function byOperation({ operation }) {
  return holding('operations', operation.value);
}

function holding(column, chosen) {
  if (!chosen) return null;
  return (each) => each[column].some(([place]) => place === Number(chosen));
}

function byImage({ image }) {
  const part = folded(image.value.trim());
  if (!part) return null;
  const places = new Set(run.images.flatMap((name, place) => (folded(name).includes(part) ? [place] : [])));
  return (each) => each.image_counts.some(([place]) => places.has(place));
}

function byDays({ since, until }) {
  if (!since.value && !until.value) return null;
  const first = since.value ? dayNumber(since.value) : -Infinity;
  const last = until.value ? dayNumber(until.value) : Infinity;
  return (each) => each.days.some(([day]) => first <= day && day <= last);
}

/** Every word, in the label, in any wording or in the identifier. */
function byText({ text }) {
  const words = folded(text.value).split(/\s+/).filter(Boolean);
  if (!words.length) return null;
  return (each) => words.every((word) => searchedText(each).includes(word));
}

const searchedTexts = new Map();

/** What is searched of a capability: made when it is first asked for, so that the page opens without it. */
function searchedText(capability) {
  let text = searchedTexts.get(capability.id);
  if (text === undefined) {
    const wordings = capability.variants.map(([wording]) => wording);
    text = folded([capability.id, capability.label, ...wordings].join('\n'));
    searchedTexts.set(capability.id, text);
  }
  return text;
}

/** A text without what tells capitals and compatible forms apart: STRASSE and straße are the same. */
function folded(text) {
  return text.normalize('NFKC').toUpperCase().toLowerCase();
}
