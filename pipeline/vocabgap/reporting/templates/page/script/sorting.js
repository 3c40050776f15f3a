/** The order of the list: by any column, the better rank first where that leaves a choice. */

const COLLATOR = new Intl.Collator('en', { numeric: true });
const TRENDS = ['rising', 'new', 'steady', 'fading'];

/** What a column is sorted by that is not its value: a list of values; null comes last either way. */
const SORTED_BY = {
  rank_low: (each) => [each.rank_low, each.rank_high],
  trend: (each) => [each.trend === null ? null : TRENDS.indexOf(each.trend)],
  category: (each) => [run.categories[each.category]],
};

/** The columns where the greatest, or the newest, is what one looks for first. */
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

/** Make the table's headings buttons that sort it. */
function makeSortable(table) {
  for (const heading of table.tHead.querySelectorAll('th[data-key]')) {
    const button = make('button', { type: 'button' }, ...heading.childNodes);
    button.addEventListener('click', () => sortBy(heading.dataset.key));
    heading.append(button);
  }
}

/** What a column is called within a sentence. */
function nameOfColumn(column) {
  const heading = document.querySelector(`#ranking th[data-key="${column}"]`);
  return (heading.querySelector('abbr')?.title ?? heading.textContent).toLowerCase();
}

/** Say at the headings what the table is sorted by. */
function markSorted(table, column, descending) {
  for (const heading of table.tHead.querySelectorAll('th[data-key]')) {
    if (heading.dataset.key === column) heading.setAttribute('aria-sort', descending ? 'descending' : 'ascending');
    else heading.removeAttribute('aria-sort');
  }
}
