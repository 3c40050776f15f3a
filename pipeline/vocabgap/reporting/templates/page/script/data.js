/** The capabilities, read from the block of JSON that the page carries. */

const run = readRun();

/** The block, with each row of cells made an object whose keys are the names of the columns. */
function readRun() {
  const block = JSON.parse(document.getElementById('run-data').textContent);
  const capabilities = block.rows.map((cells) => {
    const capability = {};
    block.columns.forEach((column, place) => { capability[column] = cells[place]; });
    return capability;
  });
  const byId = new Map(capabilities.map((each) => [each.id, each]));
  return { ...block, rows: undefined, capabilities, byId };
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
