/** The evidence of the selected need. */

function showEvidence(need) {
  const { wordings: most, workarounds, examples } = run.shown;
  const marks = [need.level, ...need.beside].filter(Boolean).map((text) => [isolated(capital(text))]);
  filled(part('evidence'), {}, [
    wayBack(need),
    make('h2', { id: 'need', tabindex: '-1' }, `${whole(need.rank)}. `, isolated(need.label)),
    ...actionsFor(need),
    make('p', { class: 'marks' }, ...joined(marks, ' · ')),
    facts('key', need.facts.filter(isKey)),
    section('examples', 'In their words', need.examples, (all) => bullets(all.slice(0, examples).map(example))),
    section('workarounds', 'Done instead', need.workarounds, (all) => folding(all, workarounds, tallied)),
    section('wordings', 'Wordings', need.variants, (all) => [
      tallied(all.slice(0, most)),
      all.length > most ? unfolding(`all ${whole(all.length)}`, wordings(all)) : null,
      others(need.other_wordings, ['wording', 'wordings'], 'capabilities.parquet'),
    ]),
    section('covers', need.covered.length ? 'Covered in part' : 'Nearest entry', need.covered_by, (all) => [
      ...need.covered.filter(([entry]) => entry).map((each) => coveredBy(each, need)), ...folding(all, 1, covers),
    ]),
    section('effect', 'Since it was authored', [need.effect].filter(Boolean), sentences),
    section('past', 'So far', need.past, sentences),
    unfolding('More', ...more(need)),
  ]);
  part('evidence').scrollTop = 0;
  showDecided();
}

/** The buttons above the evidence on a narrow screen. */
function wayBack(need) {
  const place = list.found.indexOf(need);
  return make('p', { class: 'way' }, button('‹ Back', goBack, { id: 'back' }),
    make('span', {}, place < 0 ? '' : `${whole(place + 1)} of ${whole(list.found.length)}`),
    button('Previous', () => step(-1), { id: 'previous' }), button('Next', () => step(1), { id: 'next' }));
}

// Whether a fact is one of those that a decision needs.
const isKey = ([label]) => run.labels.indexOf(label) < run.shown.facts;

/** What the evidence shows on request. */
function more(need) {
  const identifier = run.deciding === null ? [] : [['Identifier', need.id]];
  const { images, most_images: most } = run.shown;
  return [
    run.deciding === null ? null : make('p', {}, buttonFor('rename', need)),
    facts('facts', [...need.facts.filter((each) => !isKey(each)), ...identifier]),
    section('records', 'Records', need.examples, (all) => bullets(all.map(record))),
    section('categories', 'Categories', spelled(need.categories, run.categories), tallies),
    section('operations', 'Operations', spelled(need.operations, run.operations), tallies),
    section('used', 'Entries used instead', need.vocabulary_used, tallies),
    section('images', capital(run.unit[1]), spelled(need.image_counts, run.images), (all) => [
      ...folding(all.slice(0, most), images, tallies),
      others(Math.max(all.length - most, 0) + need.other_images, run.unit, 'gaps.parquet'),
    ]),
    section('ranks', 'Rank over time', need.history.slice(1), () => ranks(need)),
    section('draft', 'Draft of an entry', [need.draft].filter(Boolean), (texts) => make('pre', {}, ...texts)),
  ];
}

/** A section with its heading; none if it would be empty. */
function section(name, title, items, content) {
  if (!items.length) return null;
  return make('section', { class: name }, make('h3', {}, title), ...[content(items)].flat());
}

function facts(name, rows) {
  return make('dl', { class: name }, ...rows.map(([label, text]) =>
    make('div', {}, make('dt', {}, label), make('dd', {}, ...dated(text)))));
}

function unfolding(summary, ...parts) {
  return make('details', {}, make('summary', {}, summary), ...parts);
}

/** The first items, and the others in an element that unfolds. */
function folding(items, shown, content) {
  const others = items.slice(shown);
  return [content(items.slice(0, shown)), others.length ? unfolding(`${whole(others.length)} more`, content(others)) : null];
}

/** A note on items that the page omits. */
function others(number, [one, several], file) {
  if (number <= 0) return null;
  return make('p', { class: 'note' }, counted(number, `other ${one} is`, `other ${several} are`), ' in ', code(file));
}

/** A table; heads have the kinds of their columns, and the first cell that is no number is the heading of its row. */
function figures(heads, rows) {
  const named = heads.findIndex(([, kind]) => kind !== 'num');
  const head = heads.map(([text, kind]) => make('th', { scope: 'col', class: `is-${kind}` }, isolated(text)));
  const body = rows.map((row) => make('tr', {}, ...row.map((parts, place) =>
    make(place === named ? 'th' : 'td', { class: `is-${heads[place][1]}`, ...(place === named ? { scope: 'row' } : {}) }, ...parts))));
  return make('table', {}, make('thead', {}, make('tr', {}, ...head)), make('tbody', {}, ...body));
}

/** The rank in each run, the newest first. */
function ranks({ history, notes }) {
  const noted = (run) => notes.filter(([place]) => place === run).map(([, note]) => ` (${note})`).join('');
  const rows = [...history].reverse().map(([place, rank, mentions]) =>
    [[run.runs[place].slice(0, 10)], [whole(rank) + noted(place)], [whole(mentions)]]);
  return figures([['Run', 'text'], ['Rank', 'num'], ['Mentions', 'num']], rows);
}

function wordings(variants) {
  const heads = [['Wording', 'text'], ['Mentions', 'num'], ['Similarity', 'num']];
  return figures(heads, variants.map(([wording, mentions, similarity]) =>
    [[isolated(wording)], [whole(mentions)], [similarity.toFixed(2)]]));
}

/** Texts with their mentions. */
function tallied(pairs) {
  return bullets(pairs.map(([text, mentions]) => [isolated(text), '\u00a0', make('small', {}, `${whole(mentions)}×`)]));
}

function coveredBy([entry, mentions, wordings], need) {
  const texts = joined(wordings.map((wording) => [isolated(wording)]), ', ');
  return make('p', {}, code(entry), ` has ${whole(mentions)} of ${counted(need.mentions, 'mention')}: `, ...texts);
}

function covers(entries) {
  return bullets(entries.map(([entry, pack, explained, terms]) => [
    code(entry), ` ${Math.round(100 * explained)} % `,
    make('small', {}, isolated(pack), ': ', ...joined(terms.map((term) => [isolated(term)]), ', ')),
  ]));
}

/** Replace positions by names in pairs. */
function spelled(pairs, names) {
  return pairs.map(([place, mentions]) => [names[place], mentions]);
}

function tallies(pairs) {
  return make('p', {}, ...joined(pairs.map(([name, mentions]) => [isolated(name), ` (${whole(mentions)})`]), ', '));
}

function sentences(texts) {
  return bullets(texts.map(dated));
}

function bullets(items) {
  return make('ul', {}, ...items.map((children) => make('li', {}, ...children)));
}

/** What a person said, and what was done instead. */
function example({ day, wording, said, workaround, rating }) {
  const instead = workaround ? isolated(workaround) : 'no workaround noted';
  return [make('q', {}, said || wording), make('small', {}, instead, ` · ${rating}`, ...(day ? dated(` · ${day}`) : []))];
}

/** Where a record stands. */
function record({ day, wording, image, session, snapshot, file, line, notes }) {
  return [
    make('q', {}, wording), ' ',
    make('small', {}, ...(day ? [...dated(day), ' · '] : []), `${run.unit[0]} `, code(image),
      ...(session ? [' · session ', code(session)] : []), ...(snapshot ? [' · snapshot ', code(snapshot)] : []),
      ' · ', code(make('bdi', { dir: 'ltr' }, file), `:${line}`)),
    notes ? make('small', {}, ' · ', isolated(notes)) : null,
  ];
}

function code(...parts) {
  return make('code', {}, ...parts);
}
