/** The rows of the table, the same as in `ranking.html.j2`. */

const NAMED = new Set(['rank_low', 'images', 'unsatisfied']);

function rowOf(capability) {
  const rated = capability.unsatisfied + capability.neutral + capability.satisfied;
  const link = make('a', { href: `#${capability.id}` }, capability.label);
  return make('tr', { 'data-id': capability.id },
    cell('rank', whole(capability.rank), ...tieOf(capability.rank)),
    cell('rank_low', span(capability.span), ` ${capability.interval}`),
    make('th', { scope: 'row', class: 'c-label' }, link, ...marksOf(capability)),
    run.runs.length > 1 ? cell('before', capability.before === null ? MISSING : whole(capability.before)) : null,
    run.statuses.length > 1 ? cell('status', capability.status ?? MISSING) : null,
    make('td', { class: 'c-mentions', 'data-name': nameOfColumn('mentions'), title: `likely ${capability.likely}` },
      bar(capability.mentions, run.most_mentions), ' ', make('span', {}, whole(capability.mentions))),
    cell('images', whole(capability.images)),
    cell('sessions', whole(capability.sessions)),
    run.weeks ? cell('trend', spark(capability.weekly), ` ${capability.trend ?? ''}`) : null,
    cell('priority', decimals(capability.priority, 2)),
    cell('last_seen', capability.last_seen ?? MISSING),
    cell('unsatisfied', rated ? `${whole(capability.unsatisfied)}/${whole(rated)}` : MISSING),
    cell('category', run.categories[capability.category]));
}

/** The mark of ranks that are too close to call. */
function tieOf(rank) {
  const tie = run.ties.find(([first, last]) => first <= rank && rank <= last);
  if (!tie) return [];
  const [first, last] = tie;
  const mark = { [first]: '┐', [last]: '┘' }[rank] ?? '│';
  return [make('span', { class: 'tie', title: `too close to call: ${first} to ${last}` }, mark)];
}

/** The warnings after a label. */
function marksOf({ marks }) {
  return marks ? [' ', make('span', { class: 'name' }, marks)] : [];
}

/** A cell; on a narrow screen, where a row is a card, some show the name of their column. */
function cell(column, ...children) {
  const name = NAMED.has(column) ? { 'data-name': nameOfColumn(column) } : {};
  return make('td', { class: `c-${column}`, ...name }, ...children);
}
