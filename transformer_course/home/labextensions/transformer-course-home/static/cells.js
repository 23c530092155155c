// What several modules ask of the cells of a notebook.

export const sourceOf = cell => cell.model.sharedModel.getSource();

export const tagsOf = cell => cell.model.getMetadata('tags') ?? [];

/** Whether "Run the cells above" runs a cell: not if it is empty, or an experiment for the learner to write. */
export function isRun(cell) {
  return cell.model.type === 'code' && sourceOf(cell).trim() !== '' && !tagsOf(cell).includes('skip-execution');
}

/** Return where a cell is in words that a reader can find: the nearest heading above it, or the exercise it is. */
export function placeOf(notebook, index) {
  const cell = notebook.widgets[index];
  if (tagsOf(cell).includes('exercise')) return `the exercise “${cell.model.id}”`;
  if (notebook.widgets.findIndex(isRun) === index) return 'the first code cell';
  for (let i = index - 1; i >= 0; i--) {
    const headings = sourceOf(notebook.widgets[i]).match(/^#+ .+$/gm);
    if (notebook.widgets[i].model.type === 'markdown' && headings) {
      const heading = headings.at(-1).replace(/^#+ (Exercise: )?/, '').replace(/[`*$]/g, '');
      return `a cell under “${heading}”`;
    }
  }
  return `cell ${index + 1}`;
}

/** Bring a cell into view and make it the active one. */
export async function goToCell(notebook, index) {
  notebook.activeCellIndex = index;
  await notebook.scrollToItem(index, 'start');
}
