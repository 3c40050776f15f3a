/** The overviews of the block: a heading, sentences, a table and a note. */

const FIRST_ROWS = 10;

/** One element per section; all texts stay texts. */
function sectionsOf(sections) {
  return sections.map(({ id, title, tab, sentences, heads, rows, after }) => make(
    'section', { id, 'data-tab': tab, 'aria-labelledby': `${id}-title` },
    make('h2', { id: `${id}-title` }, title),
    ...sentences.map((text) => make('p', {}, ...coded(text))),
    ...tablesOf(title, heads, rows),
    after ? make('p', { class: 'note' }, ...coded(after)) : null,
  ));
}

/** A sentence; what stands between backticks is code. */
function coded(text) {
  return text.split('`').flatMap((part, place) => (place % 2 ? [code(part)] : dated(part)));
}

/** A table of the first rows, and one of the others that unfolds. */
function tablesOf(title, heads, rows) {
  if (!rows.length) return [];
  const most = heads.map((_, place) => Math.max(...rows.map((row) => row[place])));
  const shown = (some) => overviewTable(title, heads, some, most);
  return folding(rows, rows.length < FIRST_ROWS + 3 ? rows.length : FIRST_ROWS, shown);
}

// People without a mouse scroll a wide table only if it can have the focus.
function overviewTable(title, heads, rows, most) {
  const cells = rows.map((row) => row.map((cell, place) => contentOf(cell, heads[place][1], most[place])));
  return make('div', { class: 'wide', tabindex: '0', role: 'group', 'aria-label': title }, figures(heads, cells));
}

function contentOf(cell, kind, most) {
  if (kind === 'bar') return [bar(most, cell), ' ', whole(cell)];
  if (typeof cell === 'number') return [whole(cell)];
  if (Array.isArray(cell)) return joined(cell.map((link) => [linkToNeed(link)]), ', ');
  if (kind === 'sentence') return coded(cell);
  return [kind === 'code' ? code(cell) : isolated(cell)];
}

/** A link to a capability; only its text if the page has no row of it. */
function linkToNeed({ id, text }) {
  return run.byId.has(id) ? make('a', { href: `#${id}` }, isolated(text)) : isolated(text);
}
