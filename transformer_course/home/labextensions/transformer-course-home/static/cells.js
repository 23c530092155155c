// Functions for the cells of a notebook.

export const sourceOf = cell => cell.model.sharedModel.getSource();

export const tagsOf = cell => cell.model.getMetadata('tags') ?? [];

/** Whether "Run the cells above" runs a cell. Empty cells and experiments for the learner to write are skipped. */
export function isRun(cell) {
  return cell.model.type === 'code' && sourceOf(cell).trim() !== '' && !tagsOf(cell).includes('skip-execution');
}

/** Whether the kernel is running a cell or will run it, because it is in the queue. */
export const isQueued = cell => cell.model.executionState === 'running';

/** Describe where a cell is: the name of its exercise, or the nearest heading above it. */
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

/** Activate a cell and scroll to it. */
export async function goToCell(notebook, index) {
  notebook.activeCellIndex = index;
  await notebook.scrollToItem(index, 'start');
}
