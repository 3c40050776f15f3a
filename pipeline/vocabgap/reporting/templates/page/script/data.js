/** The capabilities, read from the JSON block of the page. */

/** A row of the block; `columns` of the block names its cells. */
class Capability {
  constructor(cells) {
    this.cells = cells;
  }
}

/** Decoders of columns: the block stores many names as positions. */
const UNPACKED = {
  categories: pairs,
  operations: pairs,
  image_counts: pairs,
  days: pairs,
  facts: (flat) => pairs(flat).map(([label, text]) => [run.labels[label], text]),
  examples: (all) => all.map(exampleOf),
};

const run = readRun();

/** Turn position, number, position, number, … into pairs. */
function pairs(flat) {
  const all = [];
  for (let place = 0; place < flat.length; place += 2) all.push([flat[place], flat[place + 1]]);
  return all;
}

/** An example with the names of its image and file. */
function exampleOf(cells) {
  const each = Object.fromEntries(run.example_columns.map((column, place) => [column, cells[place]]));
  const image = run.images[each.image];
  const file = run.files[each.file];
  return { ...each, image, file: file.startsWith('/') ? `${image}${file}` : file };
}

/** The block, with an object for each row. Cells are not copied: 5,000 rows would take too long. */
function readRun() {
  const { rows, ...block } = JSON.parse(part('run-data').textContent);
  block.columns.forEach((column, place) => {
    const unpacked = UNPACKED[column] ?? ((cell) => cell);
    Object.defineProperty(Capability.prototype, column, { get() { return unpacked(this.cells[place]); } });
  });
  const capabilities = rows.map((cells) => new Capability(cells));
  const byId = new Map(capabilities.map((each) => [each.id, each]));
  return { ...block, capabilities, byId };
}

const MILLISECONDS_A_DAY = 24 * 60 * 60 * 1000;

/** The number of days since the first day of the page. */
function dayNumber(isoDay) {
  return (Date.parse(isoDay) - Date.parse(run.first_day)) / MILLISECONDS_A_DAY;
}
