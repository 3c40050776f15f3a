/** Small drawings. */

/** A number as a bar beside the greatest one, and its likely range as a line over it. */
function bar(most, number, low = 0, high = 0) {
  const percent = (part) => `${tenths(most ? Math.min(97 * part / most, 97) : 0)}%`;
  const range = { class: 'range', x: percent(low), width: percent(high - low) };
  return draw('svg', { class: 'bar', 'aria-hidden': 'true' },
    draw('rect', { width: percent(number) }), high > low ? draw('rect', range) : null);
}

/** Vertical bars, one per week, newest last; bars above zero are at least one pixel high. */
function spark(weekly) {
  const [across, height, share] = [56, 16, 0.75]; // a bar fills this share of its width
  const greatest = Math.max(0, ...weekly);
  const step = across / Math.max(weekly.length, 1);
  const bars = weekly.map((number, place) => {
    if (!number) return '';
    const top = height - Math.max(1, height * number / greatest);
    return `M${tenths(place * step)} ${height}V${tenths(top)}h${tenths(step * share)}V${height}`;
  });
  const viewBox = `0 0 ${across} ${height}`;
  return draw('svg', { class: 'spark', viewBox, 'aria-hidden': 'true' }, draw('path', { d: bars.join('') }));
}

function tenths(number) {
  return number.toFixed(1);
}
