/** The small drawings, the same as in the part of the page that was written without this script. */

const SPARK = { width: 60, height: 16 };

/** A bar across, as long as the number's share of the greatest one. */
function bar(number, greatest) {
  const length = greatest ? 100 * number / greatest : 0;
  return stretch('bar', { width: `${tenths(length)}%` });
}

/** Upright bars, one a week, the newest last; what is not zero is one pixel high at least. */
function spark(weekly) {
  const greatest = Math.max(0, ...weekly);
  const step = SPARK.width / Math.max(weekly.length, 1);
  const bars = weekly.map((number, place) => {
    if (!number) return '';
    const top = SPARK.height - Math.max(1, SPARK.height * number / greatest);
    const [left, width] = [tenths(place * step), tenths(step * 0.75)];
    return `M${left} ${SPARK.height}V${tenths(top)}h${width}V${SPARK.height}`;
  });
  const viewBox = `0 0 ${SPARK.width} ${SPARK.height}`;
  return draw('svg', { class: 'spark', viewBox, 'aria-hidden': 'true' }, draw('path', { d: bars.join('') }));
}

/** Where the interval of a rank lies between the first and the last rank, on a logarithmic scale. */
function span(capability, last) {
  const scale = last > 1 ? Math.log(last) : 1;
  const at = (rank) => Number(decimals(100 * Math.log(rank) / scale, 1));
  const start = at(capability.rank_low);
  const length = Math.max(Number(tenths(at(capability.rank_high) - start)), 1);
  return stretch('span', { x: `${tenths(start)}%`, width: `${tenths(length)}%` });
}

/** A part of a line, in percent of it. */
function stretch(name, place) {
  return draw('svg', { class: name, 'aria-hidden': 'true' }, draw('rect', { ...place, height: '100%' }));
}

/** To one decimal, which is always there: 7.0. */
function tenths(number) {
  return decimals(number, 1);
}
