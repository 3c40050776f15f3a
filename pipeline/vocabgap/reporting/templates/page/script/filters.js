/**
 * One field selects the listed needs: words, and `category:`, `operation:`, `image:`, `status:`, `since:`, `until:`
 * and `is:` with a value, in quotes if it has spaces. A need must have a mention for each.
 */

// Proposed images; elements for all images would take longer than the page.
const MOST_PROPOSED = 1000;
const LISTS = { decided: 'settled', rare: 'hidden', all: null };
const TESTS = {
  category: (value) => holding('categories', run.categories, value),
  operation: (value) => holding('operations', run.operations, value),
  image: (value) => holding('image_counts', run.images, value),
  status: (value) => (need) => folded(need.status ?? '') === value,
  since: (value) => (need) => need.days.some(([day, length]) => dayNumber(value) < day + length),
  until: (value) => (need) => need.days.some(([day]) => day <= dayNumber(value)),
};

function filterForm() {
  const field = make('input', { id: 'filter', type: 'search', list: 'proposals', autocomplete: 'off',
    placeholder: 'Filter  /', 'aria-label': `Filter by words or by ${Object.keys(TESTS).join(':, ')}: or is:` });
  field.addEventListener('input', relist);
  field.addEventListener('focus', propose, { once: true });
  const form = make('form', { role: 'search' }, field, make('datalist', { id: 'proposals' }));
  form.addEventListener('submit', (event) => { event.preventDefault(); focusRow(); });
  return form;
}

function propose() {
  const quoted = (name, values) => values.map((value) => `${name}:${/\s/.test(value) ? `"${value}"` : value}`);
  const statuses = [...new Set(run.capabilities.map(({ status }) => status).filter(Boolean))];
  const proposals = [
    ...quoted('is', Object.keys(LISTS)), ...quoted('status', statuses), ...quoted('category', run.categories),
    ...quoted('operation', run.operations), ...(run.images.length > MOST_PROPOSED ? [] : quoted('image', run.images)),
  ];
  part('proposals').append(...proposals.map((value) => make('option', { value })));
}

function clearFilter() {
  part('filter').value = '';
  relist();
  part('filter').focus();
}

/** The needs of the list that match the field, and the numbers of all its needs and of matches elsewhere. */
function filtered() {
  const parts = part('filter').value.match(/[a-z]+:"[^"]*"?|\S+/gi) ?? [];
  const pairs = parts.map((part) => part.match(/^([a-z]+):"?([^"]+)"?$/i)?.slice(1) ?? ['', part]);
  const isList = ([name, value]) => name === 'is' && Object.hasOwn(LISTS, value);
  const chosen = pairs.findLast(isList)?.[1];
  const usual = run.capabilities.some((need) => need.group === 'open') ? 'open' : null;
  const group = chosen ? LISTS[chosen] : usual;
  const tests = pairs.filter((pair) => !isList(pair)).map(([name, value]) => (Object.hasOwn(TESTS, name)
    ? TESTS[name](folded(value)) : byText(folded([name, value].filter(Boolean).join(':')))));
  const fitting = run.capabilities.filter((need) => tests.every((test) => test(need)));
  const isListed = (need) => !group || need.group === group;
  const [found, { length: total }] = [fitting.filter(isListed), run.capabilities.filter(isListed)];
  return { found, total, elsewhere: tests.length ? fitting.length - found.length : 0, isWhole: !tests.length && !chosen };
}

function holding(column, names, value) {
  const places = new Set(names.flatMap((name, place) => (folded(name).includes(value) ? [place] : [])));
  return (need) => need[column].some(([place]) => places.has(place));
}

function byText(word) {
  return (need) => searchedText(need).includes(word);
}

const searchedTexts = new Map();

/** The searched text of a need; made at the first search, so that the page opens quickly. */
function searchedText(need) {
  let text = searchedTexts.get(need.id);
  if (text === undefined) {
    text = folded([need.id, need.label, ...need.variants.map(([wording]) => wording)].join('\n'));
    searchedTexts.set(need.id, text);
  }
  return text;
}

/** A text without differences of case and compatible forms: STRASSE and straße are the same. */
function folded(text) {
  return text.normalize('NFKC').toUpperCase().toLowerCase();
}
