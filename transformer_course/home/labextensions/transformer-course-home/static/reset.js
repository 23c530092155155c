// Starting over: one exercise goes back to its stub, which undo takes back; a lesson goes back to what was published,
// and the learner's copy is kept under a name with the date.
import { goToCell, sourceOf, tagsOf } from './cells.js';

export const RESET_EXERCISE = 'transformer-course:reset-exercise';
export const RESET_LESSON = 'transformer-course:reset-lesson';

/**
 * @param app JupyterLab.
 * @param lab JupyterLab's own classes.
 * @param ask Asks the server.
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

  /** Put the stub into the cell of an exercise; if the learner has deleted the cell, insert it again at a place. */
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
    // What was typed in the last half second would be one step of undo with the stub.
    cell.model.sharedModel.undoManager?.stopCapturing();
    if (sourceOf(cell) !== source) cell.model.sharedModel.setSource(source);
    await goToCell(notebook, notebook.widgets.indexOf(cell));
    notebook.mode = 'edit';
    cell.editor?.focus();
    Notification.info(`${exercise} is back at its stub. Undo (Ctrl+Z or ⌘Z in the cell) brings yours back.`, {
      autoClose: 6000,
    });
  }

  async function resetLesson(path) {
    const lesson = path.replace(/\.ipynb$/, '');
    const { button } = await showDialog({
      title: `Start ${lesson} over?`,
      body:
        'The lesson becomes as it was published. Your copy is kept next to it, with the date in its name. ' +
        'What you have passed, and your saved parts, stay.',
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
      Notification.success(`${lesson} starts over.${kept ? ` Your copy is ${kept}.` : ''}`, { autoClose: 8000 });
    } catch (error) {
      Notification.error(`${lesson} cannot be reset: ${error.message}`);
    }
  }

  app.commands.addCommand(RESET_EXERCISE, {
    label: 'Reset This Exercise to Its Stub',
    caption: 'Reset this exercise to its stub; undo brings yours back',
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
    caption: 'Start this lesson over, and keep your copy under another name',
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
