/** The small drawings, the same as in the part of the page that was written without this script. */

/** A bar across, as long as the number's share of the greatest one. */
function bar(number, greatest) {
  const length = greatest ? 100 * number / greatest : 0;
  return stretch('bar', { width: `${tenths(length)}%` });
}

/** Upright bars, one a week, the newest last; what is not zero is one pixel high at least. */
function spark(weekly) {
  const { width: whole, height, filled } = run.spark;
  const greatest = Math.max(0, ...weekly);
  const step = whole / Math.max(weekly.length, 1);
  const bars = weekly.map((number, place) => {
    if (!number) return '';
    const top = height - Math.max(1, height * number / greatest);
    return `M${tenths(place * step)} ${height}V${tenths(top)}h${tenths(step * filled)}V${height}`;
  });
  const viewBox = `0 0 ${whole} ${height}`;
  return draw('svg', { class: 'spark', viewBox, 'aria-hidden': 'true' }, draw('path', { d: bars.join('') }));
}

/** Where the interval of a rank lies between the first and the last rank. */
function span([start, length]) {
  return stretch('span', { x: `${tenths(start)}%`, width: `${tenths(length)}%` });
}

/** A part of a line, in percent of it. */
function stretch(name, place) {
  return draw('svg', { class: name, 'aria-hidden': 'true' }, draw('rect', place));
}

/** To one decimal, which is always there: 7.0. */
function tenths(number) {
  return decimals(number, 1);
}
