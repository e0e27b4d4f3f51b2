// The same numbers as the picture, for those who read rather than look. Text goes in as text, never as markup.

function tableOf(caption, heads, rows) {
  const table = document.createElement("table");
  table.createCaption().textContent = caption;
  const top = table.createTHead().insertRow();
  for (const head of heads) {
    const cell = document.createElement("th");
    cell.scope = "col";
    cell.textContent = head;
    top.append(cell);
  }
  const body = table.createTBody();
  for (const values of rows) {
    const row = body.insertRow();
    values.forEach((value, n) => {
      const cell = n === 0 ? document.createElement("th") : document.createElement("td");
      if (n === 0) cell.scope = "row";
      cell.textContent = value;
      row.append(cell);
    });
  }
  return table;
}

function fillTable(stage) {
  const { view, parts } = stage;
  const place = parts.table;
  place.replaceChildren();
  if (!view || !view.curves.length) {
    const note = document.createElement("p");
    note.textContent = "No scores yet.";
    place.append(note);
    return;
  }
  const after = view.curves.some((curve) => curve.after);
  const control = view.curves.some((curve) => curve.control);
  const heads = ["concept", "should be", "best window", "score", "z", ...(control ? ["after an equal random cut"] : [])];
  const best = view.curves.map((curve) => [
    curve.text, curve.polarity,
    curve.best ? spanText(curve.best.start, curve.best.end) : NONE,
    signed(curve.best?.score), signed(curve.best?.z, 1),
    ...(control ? [curve.control ? `${signed(curve.control.mean)} \u00b1 ${fixed(curve.control.sd, 3)}` : NONE] : []),
  ]);
  const starts = view.curves[0].starts;
  const columns = view.curves.flatMap((curve) => [curve.text, ...(after ? [`${curve.text}, after the cut`] : [])]);
  const rows = starts.map((start, n) => [
    spanText(start, start + view.windows.length),
    ...view.curves.flatMap((curve) => [signed(curve.scores[n]), ...(after ? [signed(curve.after?.[n])] : [])]),
  ]);
  const scroll = document.createElement("div");
  scroll.className = "stage-table-scroll";
  scroll.setAttribute("role", "region");
  scroll.setAttribute("aria-label", "Scores of every window");
  scroll.tabIndex = parts.table.classList.contains("stage-unseen") ? -1 : 0;
  scroll.append(tableOf("Cosine of every window", ["window", ...columns], rows));
  place.append(tableOf("Where each concept was found best", heads, best), scroll);
}
