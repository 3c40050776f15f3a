/** The small drawings, the same as in the part of the page that was written without this script. */

const SPARK = { width: 60, height: 16 };

/** A bar across, as long as the number's share of the greatest one. */
function bar(number, greatest) {
  const length = greatest ? 100 * number / greatest : 0;
  return picture('bar', '0 0 100 1', `M0 0H${tenths(length)}V1H0`);
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
  return picture('spark', `0 0 ${SPARK.width} ${SPARK.height}`, bars.join(''));
}

/** Where the interval of a rank lies between the first and the last rank, on a logarithmic scale. */
function span(capability, last) {
  const scale = last > 1 ? Math.log(last) : 1;
  const at = (rank) => Number(decimals(100 * Math.log(rank) / scale, 1));
  const start = at(capability.rank_low);
  const [left, right] = [tenths(start), tenths(Math.max(at(capability.rank_high), start + 1))];
  return picture('span', '0 0 100 1', `M${left} 0H${right}V1H${left}`);
}

function picture(name, viewBox, path) {
  const shape = draw('path', { d: path });
  return draw('svg', { class: name, viewBox, preserveAspectRatio: 'none', 'aria-hidden': 'true' }, shape);
}

/** To one decimal, which is always there: 7.0. */
function tenths(number) {
  return decimals(number, 1);
}
