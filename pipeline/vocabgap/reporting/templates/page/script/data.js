/** The capabilities, read from the block of JSON that the page carries. */

/** A row of the block; `columns` of the block names its cells. */
class Capability {
  constructor(cells) {
    this.cells = cells;
  }
}

/** What the cells of these columns mean: in the block, much is told by position. */
const UNPACKED = {
  categories: pairs,
  operations: pairs,
  image_counts: pairs,
  days: pairs,
  timeline: ([first, ...counts]) => counts.map((mentions, place) => [run.periods[first + place], mentions]),
  examples: (all, capability) => all.map((each) => exampleOf(each, capability)),
};

const run = readRun();

/** Position, number, position, number, and so on, two by two. */
function pairs(flat) {
  const all = [];
  for (let place = 0; place < flat.length; place += 2) all.push([flat[place], flat[place + 1]]);
  return all;
}

function exampleOf([day, image, session, snapshot, file, line, wording, said, workaround, rating, notes], capability) {
  const path = run.files[file];
  return [
    day, image, session, snapshot,
    `${path.startsWith('/') ? run.images[image] : ''}${path}:${line}`,
    typeof wording === 'number' ? capability.variants[wording][0] : wording,
    said,
    typeof workaround === 'number' ? capability.workarounds[workaround][0] : workaround,
    rating, notes,
  ];
}

/** The block, with an object for each row. The cells stay where they are: copying 5,000 rows takes its time. */
function readRun() {
  const { rows, ...block } = JSON.parse(document.getElementById('run-data').textContent);
  block.columns.forEach((column, place) => {
    const unpacked = UNPACKED[column] ?? ((cell) => cell);
    Object.defineProperty(Capability.prototype, column, { get() { return unpacked(this.cells[place], this); } });
  });
  const capabilities = rows.map((cells) => new Capability(cells));
  const byId = new Map(capabilities.map((each) => [each.id, each]));
  return { ...block, capabilities, byId };
}

/** What a column of numbers is at most, for full bars. */
function most(column) {
  return run.capabilities.reduce((highest, each) => Math.max(highest, each[column]), 0);
}

const MILLISECONDS_A_DAY = 24 * 60 * 60 * 1000;

/** How many days after the page's first day a day is. */
function dayNumber(isoDay) {
  return (Date.parse(isoDay) - Date.parse(run.first_day)) / MILLISECONDS_A_DAY;
}
