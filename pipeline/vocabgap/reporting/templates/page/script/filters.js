/**
 * One field selects the listed needs: words, and keys with a value, in quotes if it has spaces.
 * A need must fit each.
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
  is: () => () => false, // a value that is not in LISTS
};
const KEYED = new RegExp(`(?:(${Object.keys(TESTS).join('|')}):\\s*)?("[^"]*"?|\\S*)`, 'gi');

function filterForm() {
  const field = make('input', { id: 'filter', type: 'search', list: 'proposals', autocomplete: 'off',
    placeholder: 'Filter  /', 'aria-label': `Filter by words or by ${Object.keys(TESTS).join(':, ')}:` });
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
  const pairs = [...part('filter').value.matchAll(KEYED)]
    .map(([, key = '', value]) => [key.toLowerCase(), folded(value.replace(/^"|"$/g, ''))]).filter(([, value]) => value);
  const isList = ([key, value]) => key === 'is' && Object.hasOwn(LISTS, value);
  const asked = pairs.filter((pair) => !isList(pair));
  const isUnclear = ([key, value]) => key === 'is' || (/since|until/.test(key) && isNaN(dayNumber(value)));
  const unclear = asked.filter(isUnclear).map((pair) => pair.join(':')).join(' ');
  const chosen = pairs.findLast(isList)?.[1];
  const usual = run.capabilities.some((need) => need.group === 'open') ? 'open' : null;
  const group = chosen ? LISTS[chosen] : usual;
  const tests = asked.map(([key, value]) => (TESTS[key] ?? byText)(value));
  const fitting = run.capabilities.filter((need) => tests.every((test) => test(need)));
  const isListed = (need) => !group || need.group === group;
  const [found, { length: total }] = [fitting.filter(isListed), run.capabilities.filter(isListed)];
  return { found, total, unclear, elsewhere: tests.length ? fitting.length - found.length : 0, isWhole: !pairs.length };
}

function holding(column, names, value) {
  const places = new Set(names.flatMap((name, place) => (folded(name).includes(value) ? [place] : [])));
  return (need) => need[column].some(([place]) => places.has(place));
}

function byText(word) {
  return (need) => {
    // Made at the first search, so that the page opens quickly.
    need.searched ??= folded([need.id, need.label, ...need.variants.map(([wording]) => wording)].join('\n'));
    return need.searched.includes(word);
  };
}

/** A text without differences of case and compatible forms: STRASSE and straße are the same. */
function folded(text) {
  return text.normalize('NFKC').toUpperCase().toLowerCase();
}
