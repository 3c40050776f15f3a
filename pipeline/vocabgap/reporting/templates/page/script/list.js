/** The table: its rows, their order, and the shown page. */

const ROWS_A_PAGE = 50;
const list = { found: [], elsewhere: 0, page: 0, column: 'rank', descending: false };

/** List the matches of the filters from the first page. */
function relist() {
  const { found, elsewhere } = filtered();
  Object.assign(list, { found: sorted(found, list.column, list.descending), elsewhere, page: 0 });
  showPage();
}

/** Sort by a column; if it is the same column again, reverse the order. */
function sortBy(column) {
  const descending = column === list.column ? !list.descending : GREATEST_FIRST.has(column);
  Object.assign(list, { found: sorted(list.found, column, descending), column, descending, page: 0 });
  showPage();
}

/** Turn pages and move to the head of the list. */
function turn(pages) {
  list.page += pages;
  showPage();
  document.getElementById('list').scrollIntoView();
  document.getElementById('list-title').focus({ preventScroll: true });
}

/** Turn to the page of a capability, if it is listed. */
function turnTo(capability) {
  const place = list.found.indexOf(capability);
  const page = Math.floor(place / ROWS_A_PAGE);
  if (place < 0 || page === list.page) return;
  list.page = page;
  showPage();
}

function showPage() {
  const first = list.page * ROWS_A_PAGE;
  const shown = list.found.slice(first, first + ROWS_A_PAGE);
  const table = document.getElementById('ranking');
  document.getElementById('rows').replaceChildren(...(shown.length ? shown.map(rowOf) : [rowOfNone(table)]));
  markSorted(table, list.column, list.descending);
  sayCount();
  sayFilters();
  sayPlace(first, shown.length);
}

function rowOfNone(table) {
  const { length } = table.tHead.rows[0].cells;
  return make('tr', { class: 'none' }, make('td', { colspan: length }, 'No match.'));
}

function sayCount() {
  const group = filterFields().group.value;
  const all = run.capabilities.filter((each) => !group || each.group === group).length;
  const part = list.found.length === all ? '' : `${whole(list.found.length)} of `;
  const others = list.elsewhere ? `; ${whole(list.elsewhere)} in other lists` : '';
  document.getElementById('f-count').textContent = `${part}${counted(all, 'capability', 'capabilities')}${others}`;
}

function sayPlace(first, number) {
  const { pager, 'page-back': back, 'page-next': next, 'page-place': place, 'f-place': onPaper } =
    named('pager', 'page-back', 'page-next', 'page-place', 'f-place');
  const after = first + number;
  pager.hidden = list.found.length <= ROWS_A_PAGE;
  place.textContent = number ? `${whole(first + 1)}–${whole(after)} of ${whole(list.found.length)}` : '';
  onPaper.textContent = number ? `Rows ${place.textContent}, sorted by ${nameOfColumn(list.column)}` : '';
  setUsable([back, first > 0], [next, after < list.found.length]);
}

/** Enable or disable buttons; the focus does not stay on a disabled button. */
function setUsable(...buttons) {
  const hadFocus = buttons.some(([button]) => button === document.activeElement);
  for (const [button, usable] of buttons) button.disabled = !usable;
  if (hadFocus && !document.activeElement.matches('button:enabled')) {
    buttons.find(([, usable]) => usable)?.[0].focus();
  }
}
