/** The small drawings, the same as in the part of the page that was written without this script. */

const SPARK = { width: 60, height: 16 };

/** A bar across, as long as the number's share of the greatest one. */
function bar(number, greatest) {
  const length = greatest ? 100 * number / greatest : 0;
  return draw('svg', { class: 'bar', viewBox: '0 0 100 6', preserveAspectRatio: 'none', 'aria-hidden': 'true' },
    draw('rect', { class: 'track', width: 100, height: 6 }),
    draw('rect', { width: decimals(length, 1), height: 6 }));
}

/** Upright bars, one a week, the newest last; what is not zero is one pixel high at least. */
function spark(weekly) {
  const greatest = Math.max(0, ...weekly);
  const step = SPARK.width / Math.max(weekly.length, 1);
  const bars = weekly.map((number, place) => {
    const height = number ? Math.max(1, Number(decimals(SPARK.height * number / greatest, 1))) : 0;
    return draw('rect', {
      x: decimals(place * step, 1),
      y: decimals(SPARK.height - height, 1),
      width: decimals(step * 0.75, 1),
      height: decimals(height, 1),
    });
  });
  return draw('svg', { class: 'spark', viewBox: `0 0 ${SPARK.width} ${SPARK.height}`, 'aria-hidden': 'true' }, ...bars);
}

/** Where the interval of a rank lies between the first and the last rank, on a logarithmic scale. */
function span(capability, last) {
  const scale = last > 1 ? Math.log(last) : 1;
  const at = (rank) => Number(decimals(100 * Math.log(rank) / scale, 1));
  const start = at(capability.rank_low);
  const length = Math.max(at(capability.rank_high) - start, 1);
  return draw('svg', { class: 'span', viewBox: '0 0 100 6', preserveAspectRatio: 'none', 'aria-hidden': 'true' },
    draw('rect', { class: 'track', y: 2.5, width: 100, height: 1 }),
    draw('rect', { x: decimals(start, 1), y: 1.5, width: decimals(length, 1), height: 3 }));
}
