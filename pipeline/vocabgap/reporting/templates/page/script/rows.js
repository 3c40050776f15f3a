/** The rows of the table, the same as in `ranking.html.j2`. */

const NAMED = new Set(['rank_low', 'mentions', 'images', 'unsatisfied']);

function rowOf(capability) {
  const rated = capability.unsatisfied + capability.neutral + capability.satisfied;
  const cells = {
    rank: [whole(capability.rank), ...tieOf(capability.rank)],
    rank_low: [span(capability.span), ` ${capability.interval}`],
    label: [make('a', { href: `#${capability.id}` }, capability.label), ...marksOf(capability)],
    before: [capability.before === null ? MISSING : whole(capability.before)],
    status: dated(capability.state ?? MISSING),
    mentions: [bar(capability.mentions, run.most_mentions), ' ', make('span', {}, whole(capability.mentions))],
    images: [whole(capability.images)],
    sessions: [whole(capability.sessions)],
    trend: [spark(capability.weekly), ` ${capability.trend ?? ''}`],
    priority: [decimals(capability.priority, 2)],
    last_seen: [capability.last_seen ?? MISSING],
    unsatisfied: [rated ? `${whole(capability.unsatisfied)}/${whole(rated)}` : MISSING],
    category: [run.categories[capability.category]],
  };
  return make('tr', { 'data-id': capability.id }, ...run.table.map((column) => cell(column, capability, cells[column])));
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

/** A cell; some show the name of their column in a card. */
function cell(column, { likely }, children) {
  const name = NAMED.has(column) ? { 'data-name': nameOfColumn(column) } : {};
  if (column === 'mentions') name.title = `likely ${likely}`;
  if (column === 'label') return make('th', { scope: 'row', class: 'c-label' }, ...children);
  return make('td', { class: `c-${column}`, ...name }, ...children);
}
