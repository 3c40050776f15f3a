/** The order of the list: by any column, and by rank for equal values. */

const COLLATOR = new Intl.Collator('en', { numeric: true });
const TRENDS = ['rising', 'new', 'steady', 'fading'];

/** Sort keys of columns that are not sorted by their value; null is always last. */
const SORTED_BY = {
  rank_low: (each) => [each.rank_low, each.rank_high],
  trend: (each) => [each.trend === null ? null : TRENDS.indexOf(each.trend)],
  category: (each) => [run.categories[each.category]],
};

/** The columns that begin with the greatest or newest value. */
const GREATEST_FIRST = new Set(['mentions', 'images', 'sessions', 'priority', 'last_seen', 'unsatisfied']);

/** The capabilities in the order of a column. */
function sorted(capabilities, column, descending) {
  const sortedBy = SORTED_BY[column] ?? ((each) => [each[column]]);
  const keys = new Map(capabilities.map((each) => [each, sortedBy(each)]));
  return [...capabilities].sort((one, other) => {
    const [left, right] = [keys.get(one), keys.get(other)];
    for (let place = 0; place < left.length; place += 1) {
      const order = compared(left[place], right[place], descending);
      if (order) return order;
    }
    return one.rank - other.rank;
  });
}

function compared(left, right, descending) {
  if (left === null || right === null) return (left === null) - (right === null);
  const order = typeof left === 'string' ? COLLATOR.compare(left, right) : left - right;
  return descending ? -order : order;
}

/** Turn the headings of the table into buttons that sort it. */
function makeSortable(table) {
  for (const heading of table.tHead.querySelectorAll('th[data-key]')) {
    const button = make('button', { type: 'button' }, ...heading.childNodes);
    button.addEventListener('click', () => sortBy(heading.dataset.key));
    heading.append(button);
  }
}

/** The name of a column in a sentence. */
function nameOfColumn(column) {
  const heading = document.querySelector(`#ranking th[data-key="${column}"]`);
  return (heading.querySelector('abbr')?.title ?? heading.textContent).toLowerCase();
}

/** Mark the sorted column in its heading. */
function markSorted(table, column, descending) {
  for (const heading of table.tHead.querySelectorAll('th[data-key]')) {
    if (heading.dataset.key === column) heading.setAttribute('aria-sort', descending ? 'descending' : 'ascending');
    else heading.removeAttribute('aria-sort');
  }
}
