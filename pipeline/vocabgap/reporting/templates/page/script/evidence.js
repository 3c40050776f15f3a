/** The evidence of one capability, the same as in `capability.html.j2`. */

function evidenceOf(capability) {
  const { wordings: wordingsShown, images: imagesShown, most_images: mostImages } = run.shown;
  return [
    keyFacts(capability),
    run.deciding === null ? null : decidingAbout(capability),
    section('covered', 'Probably covered', capability.covered, (all) => bullets(all.map((each) => coveredBy(each, capability)))),
    section('covers', 'Nearest entries, by words and operations', capability.covered_by, covers),
    section('examples', 'Examples', capability.examples, (all) => bullets(all.map(example))),
    section('wordings', 'Wordings', capability.variants, (all) => [
      ...folding(all, wordingsShown, (some) => wordings(some, capability)),
      others(capability.other_wordings, ['wording', 'wordings'], 'capabilities.parquet'),
    ]),
    section('workarounds', 'Workarounds', capability.workarounds, (all) => bullets(all.map(withMentions))),
    section('used', 'Entries used instead', capability.vocabulary_used, tallies),
    section('decisions', 'Decided', capability.decisions, (all) => bullets(all.map(dated))),
    facts(capability),
    section('past', 'Rank over time', capability.history.length > 1 ? capability.history : [],
      (history) => past(history, capability.notes)),
    section('operations', 'Operations involved', capability.operations, (all) => tallies(spelled(all, run.operations))),
    section('images', capital(run.unit[1]), capability.image_counts, (all) => [
      ...folding(spelled(all.slice(0, mostImages), run.images), imagesShown, tallies),
      others(Math.max(all.length - mostImages, 0) + capability.other_images, run.unit, 'gaps.parquet'),
    ]),
    section('lineage', 'Since the run before', capability.lineage, (all) => bullets(all.map(dated))),
  ].filter((part) => part !== null);
}

/** A section with its heading; none if it would be empty. */
function section(name, title, items, content) {
  if (!items.length) return null;
  return make('section', { class: name }, make('h3', {}, title), ...[content(items)].flat());
}

/** The figures that a decision needs. */
function keyFacts(capability) {
  return defined('facts key', [
    ['Mentions', `${whole(capability.mentions)}, likely ${[`${capability.likely} by stricter and looser grouping`, capability.marks].filter(Boolean).join(', ')}`],
    [capital(run.unit[1]), whole(capability.images)],
    capability.pin
      ? ['Rank', isolated(capability.pin)]
      : [`Rank, with ${run.confidence} % confidence`, capability.interval],
    ['Satisfaction', capability.rated],
    ['Why these wordings are one need', isolated(capability.together)],
  ]);
}

function facts(capability) {
  const categories = spelled(capability.categories, run.categories).map(withMentions);
  const rows = [
    ['Known sessions', whole(capability.sessions)],
    ...(capability.status ? [['Status', ...dated(capability.state)]] : []),
    ...(capability.asked ? [['Asked for', isolated(capability.asked)]] : []),
    ['Priority', decimals(capability.priority, 2)],
    ...(run.weeks ? [['Trend', capability.trend_phrase]] : []),
    ['First and last seen', ...dated(capability.last_seen ? `${capability.first_seen}, ${capability.last_seen}` : MISSING)],
    ['Categories', ...joined(categories, ', ')],
    ...capability.facts,
    ...(run.deciding !== null ? [['Identifier', make('code', {}, capability.id)]] : []),
  ];
  return defined('facts', rows);
}

function defined(name, rows) {
  return make('dl', { class: name }, ...rows.map(([term, ...texts]) => described(term, ...texts)));
}

function described(term, ...texts) {
  return make('div', {}, make('dt', {}, term), make('dd', {}, ...texts));
}

/** The first items, and the others in an element that unfolds. */
function folding(items, shown, content) {
  const parts = [content(items.slice(0, shown))];
  if (items.length > shown) {
    const more = make('summary', {}, `${whole(items.length - shown)} more`);
    parts.push(make('details', {}, more, content(items.slice(shown))));
  }
  return parts;
}

function withMentions([name, mentions]) {
  return [isolated(name), ` (${whole(mentions)})`];
}

/** A note on items that the page omits. */
function others(number, [one, several], file) {
  if (number <= 0) return null;
  return make('p', { class: 'note' }, counted(number, `other ${one} is`, `other ${several} are`), ' in ', code(file), '.');
}

/** A table; the first cell of a row is its heading. */
function table(heads, rows) {
  const head = make('tr', {}, ...heads.map((text) => make('th', { scope: 'col' }, text)));
  const body = rows.map(([first, ...rest]) => make('tr', {},
    make('th', { scope: 'row' }, ...[first].flat()),
    ...rest.map((texts) => make('td', {}, ...[texts].flat()))));
  return make('table', {}, make('thead', {}, head), make('tbody', {}, ...body));
}

/** The ranks without pins in each run: a drawing, and a table with the newest run first. */
function past(history, notes) {
  const noted = (run) => notes.filter(([place]) => place === run).map(([, note]) => ` (${note})`).join('');
  const rows = [...history].reverse().map(([place, rank, mentions]) =>
    [run.runs[place].slice(0, 10), whole(rank) + noted(place), whole(mentions)]);
  return [trail(history), table(['Run', 'Rank', 'Mentions'], rows)];
}

function wordings(variants, capability) {
  const rows = variants.map(([wording, mentions, similarity]) =>
    [[wording, ...splittingOff(wording, capability)], whole(mentions), decimals(similarity, 2)]);
  return table(['Wording', 'Mentions', 'Similarity'], rows);
}

function coveredBy([entry, mentions, wordings], capability) {
  const said = joined(wordings.map((wording) => [isolated(wording)]), ', ');
  return [code(entry), ` covers ${whole(mentions)} of ${counted(capability.mentions, 'mention', 'mentions')}: `, ...said];
}

function covers(entries) {
  const rows = entries.map(([entry, pack, explained, terms]) =>
    [entry, pack, `${decimals(explained * 100, 0)} %`, joined(terms.map((term) => [isolated(term)]), ', ')]);
  return table(['Entry', 'Pack', 'Words explained', 'Shared'], rows);
}

/** Replace positions by names in pairs. */
function spelled(pairs, names) {
  return pairs.map(([place, mentions]) => [names[place], mentions]);
}

function tallies(pairs) {
  return make('p', { class: 'tally' }, ...joined(pairs.map(withMentions), ', '));
}

function bullets(items) {
  return make('ul', {}, ...items.map((children) => make('li', {}, ...children)));
}

function example({ day, image, session, snapshot, file, line, wording, said, workaround, rating, notes }) {
  const instead = workaround ? ['Instead: ', isolated(workaround)] : ['No workaround noted'];
  const source = [
    ...dated(day ?? MISSING), ` · ${run.unit[0]} `, code(image),
    ...(session ? [' · session ', code(session)] : [' · session unknown']),
    ...(snapshot ? [' · snapshot ', code(snapshot)] : [' · no snapshot']),
    ' · ', code(make('bdi', { dir: 'ltr' }, file), `:${line}`),
  ];
  return [
    make('p', { class: 'said' }, make('q', {}, wording), ...(said ? [' – ', isolated(said)] : [])),
    make('p', {}, ...instead, ` (${rating})`),
    notes ? make('p', {}, 'Notes: ', isolated(notes)) : null,
    make('p', { class: 'source' }, ...source),
  ];
}

function code(...parts) {
  return make('code', {}, ...parts);
}
