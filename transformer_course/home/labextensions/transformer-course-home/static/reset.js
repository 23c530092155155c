// Resets: an exercise is reset to its stub, which can be undone; a lesson is reset to the published version, and the
// learner's copy is kept under a name with the date.
import { goToCell, sourceOf, tagsOf } from './cells.js';

export const RESET_EXERCISE = 'transformer-course:reset-exercise';
export const RESET_LESSON = 'transformer-course:reset-lesson';

/**
 * @param app The JupyterLab application.
 * @param lab JupyterLab's classes.
 * @param ask Function that sends a question to the server.
 */
export function addResets(app, lab, ask) {
  const { Dialog, Notification, refreshIcon, showDialog } = lab;
  const notebookPanel = () => {
    const panel = app.shell.currentWidget;
    return panel?.content?.activeCell !== undefined && panel.sessionContext ? panel : null;
  };
  const exerciseAt = panel => {
    const cell = panel?.content.activeCell;
    return cell && tagsOf(cell).includes('exercise') ? cell : null;
  };

  /** Reset the cell of an exercise to the stub. If the learner has deleted the cell, insert it again at an index. */
  async function resetExercise(panel, exercise, place) {
    let source;
    try {
      ({ source } = await ask('stub', { exercise }));
    } catch (error) {
      Notification.error(`${exercise} cannot be reset: ${error.message}`);
      return;
    }
    const notebook = panel.content;
    for (const each of notebook.widgets) {
      if ([exercise, `check-${exercise}`].includes(each.model.id)) each.model.clearExecution();
    }
    const find = () => notebook.widgets.find(each => each.model.id === exercise);
    if (!find()) {
      const stub = { cell_type: 'code', id: exercise, source, metadata: { tags: ['exercise'] } };
      notebook.model.sharedModel.insertCell(place, stub);
    }
    const cell = find();
    // Otherwise, undo would combine the reset with what was typed in the last half second.
    cell.model.sharedModel.undoManager?.stopCapturing();
    if (sourceOf(cell) !== source) cell.model.sharedModel.setSource(source);
    await goToCell(notebook, notebook.widgets.indexOf(cell));
    notebook.mode = 'edit';
    cell.editor?.focus();
    Notification.info(`${exercise} was reset to its stub. Undo (Ctrl+Z or ⌘Z in the cell) restores your code.`, {
      autoClose: 6000,
    });
  }

  async function resetLesson(path) {
    const lesson = path.replace(/\.ipynb$/, '');
    const { button } = await showDialog({
      title: `Start ${lesson} over?`,
      body:
        'The lesson is reset to the published version. Your copy is kept next to it, with the date in its name. ' +
        'Your passed exercises and your saved parts are kept.',
      buttons: [Dialog.cancelButton(), Dialog.okButton({ label: 'Start over' })],
    });
    if (!button.accept) return;
    const open = [...app.shell.widgets('main')].filter(widget => widget.context?.path === path);
    try {
      if (open[0]?.context.model.dirty) await open[0].context.save();
      const { kept } = await ask('reset', { lesson });
      if (open[0]) {
        await open[0].sessionContext.session?.kernel?.restart();
        await open[0].context.revert();
      }
      Notification.success(`${lesson} was reset.${kept ? ` Your copy is ${kept}.` : ''}`, { autoClose: 8000 });
    } catch (error) {
      Notification.error(`${lesson} cannot be reset: ${error.message}`);
    }
  }

  app.commands.addCommand(RESET_EXERCISE, {
    label: 'Reset This Exercise to Its Stub',
    caption: 'Reset this exercise to its stub (undo restores your code)',
    icon: refreshIcon,
    isVisible: () => Boolean(exerciseAt(notebookPanel())),
    isEnabled: () => Boolean(exerciseAt(notebookPanel())),
    execute: () => {
      const panel = notebookPanel();
      const cell = exerciseAt(panel);
      return cell && resetExercise(panel, cell.model.id, panel.content.activeCellIndex);
    },
  });
  app.commands.addCommand(RESET_LESSON, {
    label: 'Start This Lesson Over…',
    caption: 'Reset this lesson to the published version, and keep your copy under another name',
    isEnabled: args => Boolean(args.path || notebookPanel()),
    execute: args => resetLesson(args.path || notebookPanel().context.path),
  });
  document.addEventListener('click', event => {
    const lesson = event.target.closest?.('button.tl-start-over');
    if (lesson) void resetLesson(lesson.dataset.path);
    const button = event.target.closest?.('button.tl-reset');
    const panel = button && [...app.shell.widgets('main')].find(widget => widget.node.contains(button));
    const place = panel?.content?.widgets?.findIndex(cell => cell.node.contains(button)) ?? -1;
    if (place >= 0) void resetExercise(panel, button.dataset.exercise, place);
  });
}
