/** Select the listed capabilities. A capability must have, for each filter, a mention that matches it. */

// Proposed images while a person types; elements for all images would take longer than the page.
const MOST_PROPOSED = 1000;

/** Fill the choices with the values of the page. */
function makeFilters() {
  const fields = filterFields();
  const groups = Object.entries(run.groups).filter(([name]) => run.capabilities.some((each) => each.group === name));
  offer(fields.group, groups, 'All');
  fields.group.options[groups.some(([name]) => name === 'open') ? 1 : 0].defaultSelected = true;
  offer(fields.status, run.statuses.map((name) => [name, name]), 'Any');
  offer(fields.category, placed(run.categories), 'Any');
  offer(fields.operation, placed(run.operations), 'Any');
  if (run.images.length <= MOST_PROPOSED) {
    const images = placed(run.images).map(([, name]) => make('option', { value: name }));
    document.getElementById('f-images').append(...images);
  }
  document.getElementById('filters').reset();
}

/** Hide or show the filters. */
function foldFilters() {
  const fold = document.getElementById('f-fold');
  fold.setAttribute('aria-expanded', String(fold.getAttribute('aria-expanded') !== 'true'));
}

/** Describe the active filters: their fields are hidden on paper, or if they are folded. */
function sayFilters() {
  const active = Object.values(filterFields()).filter(isActive);
  const said = active.map((field) => [`${field.labels[0].textContent}: `, isolated(chosen(field))]);
  document.getElementById('f-active').replaceChildren(...joined(said, '; '));
  const folded = active.filter((field) => field.closest('#f-more')).length;
  document.getElementById('f-fold').textContent = folded ? `Filters (${folded})` : 'Filters';
}

function isActive(field) {
  const usual = field.matches('select') ? field.querySelector('[selected]')?.value ?? '' : '';
  return field.value.trim() !== usual;
}

function chosen(field) {
  return field.matches('select') ? field.selectedOptions[0].textContent : field.value.trim();
}

/** Pairs of position and name, in alphabetical order. */
function placed(names) {
  return names.map((name, place) => [String(place), name]).sort((one, other) => COLLATOR.compare(one[1], other[1]));
}

function offer(select, choices, all) {
  select.append(make('option', { value: '' }, all));
  select.append(...choices.map(([value, text]) => make('option', { value }, text)));
}

function filterFields() {
  const form = document.getElementById('filters');
  const names = ['text', 'group', 'status', 'category', 'operation', 'image', 'since', 'until'];
  return Object.fromEntries(names.map((name) => [name, form.querySelector(`#f-${name}`)]));
}

/** The capabilities that match the form, and the number of matches in other lists. */
function filtered() {
  const fields = filterFields();
  const tests = [byStatus, byCategory, byOperation, byImage, byDays, byText].map((testFor) => testFor(fields));
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
  return (each) => each.days.some(([day, length]) => first < day + length && day <= last);
}

/** Every word must be in the label, a wording or the identifier. */
function byText({ text }) {
  const words = folded(text.value).split(/\s+/).filter(Boolean);
  if (!words.length) return null;
  return (each) => words.every((word) => searchedText(each).includes(word));
}

const searchedTexts = new Map();

/** The searched text of a capability; made at the first search, so that the page opens quickly. */
function searchedText(capability) {
  let text = searchedTexts.get(capability.id);
  if (text === undefined) {
    const wordings = capability.variants.map(([wording]) => wording);
    text = folded([capability.id, capability.label, ...wordings].join('\n'));
    searchedTexts.set(capability.id, text);
  }
  return text;
}

/** A text without differences of case and compatible forms: STRASSE and straße are the same. */
function folded(text) {
  return text.normalize('NFKC').toUpperCase().toLowerCase();
}
