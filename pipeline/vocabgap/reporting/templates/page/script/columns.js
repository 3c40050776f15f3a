/** The columns of the list: the heading, and the content of the cell of a need. */

const COLUMNS = [
  { name: 'rank', head: '#', cell: (need) => [whole(need.rank), tieOf(need)] },
  { name: 'label', head: 'need', cell: (need) => [labelOf(need)] },
  { name: 'mentions', head: 'mentions, likely range', cell: ({ mentions, low, high }) => [bar(run.most, mentions, low, high), make('b', {}, whole(mentions))] },
  { name: 'trend', head: 'trend', cell: ({ weekly, trend }) => [spark(weekly), trend ?? ''], isEmpty: ({ weekly }) => !weekly.length },
  { name: 'failed', head: 'failed', cell: ({ share }) => [share], isEmpty: ({ rated }) => !rated },
  { name: 'quote', head: 'quote and marks', cell: (need) => [make('span', { class: 'said' }, isolated(need.quote)), marksOf(need)] },
];
const MOST_MARKS = 2;

/** The table of the list, without rows. Roles: a style sheet takes them from rows that are grids. */
function tableOfNeeds() {
  const heads = shownColumns().map(({ name, head }) => make('th', { class: name, scope: 'col', role: 'columnheader' }, head));
  return make('table', { id: 'needs', role: 'table', 'aria-label': 'Needs' },
    make('thead', { role: 'rowgroup' }, make('tr', { role: 'row' }, ...heads)), make('tbody', { role: 'rowgroup' }));
}

function shownColumns() {
  return COLUMNS.filter(({ isEmpty }) => !isEmpty || !run.capabilities.every(isEmpty));
}

function rowOf(need) {
  return make('tr', { 'data-id': need.id, role: 'row' }, ...shownColumns().map(({ name, cell }) => (name === 'label'
    ? make('th', { class: name, scope: 'row', role: 'rowheader' }, ...cell(need))
    : make('td', { class: name, role: 'cell' }, ...cell(need)))));
}

function labelOf({ id, label }) {
  return make('a', { href: `#${id}`, title: label }, isolated(label));
}

/** A line beside ranks that are too close to call; none if the list does not show them in a row. */
function tieOf({ rank, level }) {
  const tie = list.isWhole && run.ties.find(([first, last]) => first <= rank && rank <= last);
  if (!tie) return null;
  const end = { [tie[0]]: ' top', [tie[1]]: ' end' }[rank] ?? '';
  return make('i', { class: `tie${end}`, title: level });
}

/** The marks of a need: first what its reader decided, then two others and the number of further ones. */
function marksOf(need) {
  const [first, rest] = [need.beside.slice(0, MOST_MARKS), need.beside.slice(MOST_MARKS)];
  const marks = first.map((mark) => make('span', { class: 'mark', title: mark }, isolated(mark)));
  const more = rest.length ? make('span', { class: 'mark', title: rest.join(', ') }, `+${rest.length}`) : null;
  const own = decisionsAbout(need).map(({ action }) => make('span', { class: 'mark own' }, `✓ ${ACTIONS[action].done}`));
  return make('span', { class: 'marks' }, ...own, ...marks, more);
}
