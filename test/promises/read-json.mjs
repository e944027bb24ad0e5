// Reads an excerpt of JSON as the guide to strategies describes it. Every value in it must be the source's at that place, and
// every note must stand for what is missing there.

const number = (text) => Number(text.replaceAll(",", ""));

function notesWith(tag) {
  return {
    gone: new RegExp(`^\\.\\.\\. \\[(?:object|array|string|value) omitted: .*${tag}\\]$`, "s"),
    middle: new RegExp(`\\.\\.\\. \\[([\\d,]+) bytes? omitted${tag}\\] \\.\\.\\.`),
    rows: `... [objects as rows of values: their keys come first${tag}]`,
    several: new RegExp(`^\\.\\.\\. \\[([\\d,]+) (element|key)s? omitted: (.*)${tag}\\]$`, "s"),
  };
}

/** Values one after another, as JSON lines are. Null if the text is anything else. */
function valuesIn(text) {
  try {
    return [JSON.parse(text)];
  } catch {
    // several, or none
  }
  try {
    return documentsIn(text).map((one) => JSON.parse(one));
  } catch {
    return null;
  }
}

/** Documents one after another: each ends where its last bracket closes, or with its line. */
function documentsIn(text) {
  const documents = [];
  let depth = 0;
  let from = 0;
  for (const { 0: token, index } of text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{}\n]/g)) {
    if (token === "[" || token === "{") depth++;
    else if (token === "]" || token === "}") depth--;
    if (depth !== 0 || token === "[" || token === "{" || token.startsWith('"')) continue;
    documents.push(text.slice(from, index + 1));
    from = index + 1;
  }
  return [...documents, text.slice(from)].filter((one) => one.trim() !== "");
}

/** What is false in an excerpt; null if the source, or what is shown, is not JSON, so that it has to be read as text. */
export function readJson(parts, source, tag) {
  const original = valuesIn(source.text);
  // Blank lines hold no value.
  if (original === null || original.length === 0) return null;
  const text = parts
    .filter(({ name }) => name === "run")
    .flatMap(({ lines }) => lines)
    .join("\n");
  if (parts.some(({ name }) => name === "range" || name === "short")) return null;
  const shown = valuesIn(text);
  if (shown === null) return ["the excerpt does not parse as JSON"];
  const notes = notesWith(tag);
  const problems = [];
  const whole = original.length === 1 && shown.length === 1;
  if (whole) compare(shown[0], original[0], "$", notes, problems);
  else compareLists(shown, original, "lines", notes, problems);
  return problems.slice(0, 3);
}

function compare(shown, original, path, notes, problems) {
  if (typeof shown === "string" && shown !== original) {
    if (notes.gone.test(shown)) return;
    const cut = notes.middle.exec(shown);
    if (cut === null || typeof original !== "string") {
      problems.push(
        `${path} is ${JSON.stringify(original)?.slice(0, 80)}, shown is ${JSON.stringify(shown).slice(0, 80)}`,
      );
      return;
    }
    const start = shown.slice(0, cut.index);
    const end = shown.slice(cut.index + cut[0].length);
    const missing = Buffer.byteLength(JSON.stringify(original)) - Buffer.byteLength(JSON.stringify(start + end));
    if (!original.startsWith(start) || !original.endsWith(end))
      problems.push(`${path} neither starts nor ends so: ${JSON.stringify(shown).slice(0, 120)}`);
    else if (start.length + end.length >= original.length)
      problems.push(`${path}: nothing is missing of ${JSON.stringify(shown).slice(0, 120)} (${missing})`);
  } else if (Array.isArray(shown)) {
    if (Array.isArray(original)) compareLists(shown, original, path, notes, problems);
    else problems.push(`${path} is no array`);
  } else if (typeof shown === "object" && shown !== null) {
    if (typeof original === "object" && original !== null && !Array.isArray(original))
      compareObjects(shown, original, path, notes, problems);
    else problems.push(`${path} is no object`);
  } else if (!Object.is(shown, original))
    problems.push(`${path} is ${JSON.stringify(original)?.slice(0, 80)}, shown is ${JSON.stringify(shown)}`);
}

/** The elements of a list whose objects may be written as rows of values, after a note and their keys. */
function withoutRows(shown, original, path, notes, problems) {
  const [note, keys, ...elements] = shown;
  if (note !== notes.rows || note === original[0]) return shown;
  return elements.map((element, index) => {
    if (!Array.isArray(element)) return element;
    if (element.length !== keys.length)
      problems.push(`${path}[${index}] has ${element.length} of ${keys.length} values`);
    return Object.fromEntries(keys.map((key, at) => [key, element[at]]));
  });
}

function compareLists(shown, original, path, notes, problems) {
  let index = 0;
  for (const element of withoutRows(shown, original, path, notes, problems)) {
    const several = typeof element === "string" && element !== original[index] ? notes.several.exec(element) : null;
    if (several === null) {
      if (index >= original.length) problems.push(`${path} has only ${original.length} elements`);
      else compare(element, original[index], `${path}[${index}]`, notes, problems);
      index++;
    } else {
      const count = number(several[1]);
      const last = index + count - 1;
      if (!several[3].includes(String(index)) || !several[3].includes(String(last)))
        problems.push(`${path}: ${index} to ${last} is missing, not as it says: ${element}`);
      index += count;
    }
  }
  if (index !== original.length) problems.push(`${path}: ${index} of ${original.length} elements are shown or noted`);
}

function compareObjects(shown, original, path, notes, problems) {
  let keys = 0;
  for (const [key, value] of Object.entries(shown)) {
    if (Object.hasOwn(original, key)) {
      compare(value, original[key], `${path}.${key}`, notes, problems);
      keys++;
      continue;
    }
    const several = notes.several.exec(key);
    if (several === null) problems.push(`${path} has no key ${key}`);
    else keys += number(several[1]);
  }
  if (keys !== Object.keys(original).length)
    problems.push(`${path}: ${keys} of ${Object.keys(original).length} keys are shown or noted`);
}
