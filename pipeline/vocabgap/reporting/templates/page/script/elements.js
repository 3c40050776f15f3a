/** Elements are made one by one and texts are set as text, so that nothing in a log can become markup. */

const SVG = 'http://www.w3.org/2000/svg';

/**
 * An element with its attributes and children; a child is a node or a text, and one that is null is left out.
 */
function make(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** The same for an element of a drawing. */
function draw(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children.filter((child) => child !== null));
  return element;
}

/** A text from a log within a sentence: which way it is written, what stands beside it is not moved. */
function isolated(text) {
  return make('bdi', {}, text);
}

/** A sentence whose days are not broken between two lines. */
function dated(text) {
  return text.split(/(?<!\d)(\d{4}-\d{2}-\d{2})(?!\d)/).map((part, place) => (place % 2 ? make('time', {}, part) : part));
}

/** Lists of nodes and texts, one after the other, with a text between them. */
function joined(parts, between) {
  return parts.flatMap((nodes, place) => (place ? [between, ...nodes] : nodes));
}

/** The elements with these identifiers, by them. */
function named(...identifiers) {
  return Object.fromEntries(identifiers.map((each) => [each, document.getElementById(each)]));
}
