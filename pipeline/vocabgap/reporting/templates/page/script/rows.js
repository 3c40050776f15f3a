/** A row of the table, the same as in `ranking.html.j2`. */

function rowOf(capability) {
  const rated = capability.unsatisfied + capability.neutral + capability.satisfied;
  const link = make('a', { href: `#${capability.id}` }, capability.label);
  return make('tr', { 'data-id': capability.id },
    cell('rank', whole(capability.rank)),
    cell('rank_low', span(capability.span), ` ${capability.interval}`),
    make('th', { scope: 'row', class: 'c-label' }, link, ...marksOf(capability)),
    run.runs.length > 1 ? cell('before', capability.before === null ? MISSING : whole(capability.before)) : null,
    run.statuses.length ? cell('status', capability.status ?? MISSING) : null,
    make('td', { class: 'c-mentions', title: `likely ${capability.likely}` },
      bar(capability.mentions, run.most_mentions), ' ', make('span', {}, whole(capability.mentions))),
    cell('images', whole(capability.images)),
    cell('sessions', whole(capability.sessions)),
    run.weeks ? cell('trend', spark(capability.weekly), ` ${capability.trend ?? MISSING}`) : null,
    cell('priority', decimals(capability.priority, 2)),
    cell('last_seen', capability.last_seen ?? MISSING),
    cell('unsatisfied', rated ? `${whole(capability.unsatisfied)}/${whole(rated)}` : MISSING),
    cell('category', run.categories[capability.category]));
}

/** The warnings after a label. */
function marksOf({ marks }) {
  return marks ? [' ', make('span', { class: 'name' }, marks)] : [];
}

function cell(column, ...children) {
  return make('td', { class: `c-${column}` }, ...children);
}
