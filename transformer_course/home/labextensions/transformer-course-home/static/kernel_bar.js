// The bar above a notebook whose kernel has not run all cells above the active one, for example after a restart, with a
// button that runs them; and the note below a NameError that names the cell which defines the name.
import { goToCell, isQueued, isRun, placeOf, sourceOf, tagsOf } from './cells.js';

/** Maximum running time of all cells of a lesson on one idle core, which the tests of the lessons enforce. */
const MAX_LESSON_SECONDS = 90;
/** Shorter times are not reported. */
const MIN_REPORTED_SECONDS = 5;
const NAME_ERROR = /name '(\w+)' is not defined/;
/** A Python expression for the code that the kernel has run, in base64 because the result is a Python literal. */
const HISTORY =
  '__import__("base64").b64encode(__import__("json").dumps([*get_ipython().history_manager.input_hist_raw]).encode()).decode()';

/** Whether a pointer is pressed. If the bar appeared now, it would move the element that is being clicked. */
let isPressed = false;

/**
 * @param lab JupyterLab's classes, of which `NotebookActions` and `Widget` are used.
 * @param ask Function that sends a question to the server.
 * @returns A function that starts watching a notebook.
 */
export function makeKernelBars(lab, ask) {
  const bars = new Map();
  lab.NotebookActions.executed.connect((_, { notebook, cell, success, error }) => {
    bars.get(notebook)?.wasRun(cell, success, error);
  });
  lab.NotebookActions.executionScheduled.connect((_, { notebook }) => {
    setTimeout(() => bars.get(notebook)?.update()); // the cell is in the queue only after this signal
  });
  document.addEventListener('pointerdown', () => (isPressed = true), true);
  const release = () => {
    isPressed = false;
    setTimeout(() => bars.forEach(bar => bar.update())); // after the click
  };
  document.addEventListener('pointerup', release, true);
  document.addEventListener('pointercancel', release, true);
  document.addEventListener('click', event => {
    const button = event.target.closest?.('button.tl-run-above, button.tl-show-cell');
    const bar = button && [...bars.values()].find(each => each.panel.node.contains(button));
    if (!bar) return;
    if (button.matches('.tl-show-cell')) bar.show(button.dataset.cell);
    else bar.runAbove(bar.notebook.widgets.findIndex(cell => cell.node.contains(button)));
  });
  return panel => {
    const bar = new KernelBar(panel, lab, ask);
    bars.set(panel.content, bar);
    panel.disposed.connect(() => bars.delete(bar.notebook));
    return bar.watch();
  };
}

class KernelBar {
  constructor(panel, { NotebookActions, Widget }, ask) {
    Object.assign(this, { panel, notebook: panel.content, NotebookActions, ask });
    /** The ids of the cells that this kernel has run, and of the cells for which the learner has dismissed the bar. */
    this.ran = new Set();
    this.dismissed = new Set();
    /** Whether `ran` is up to date. */
    this.isKnown = false;
    this.isRunning = false;
    this.problem = '';
    const outer = document.createElement('div');
    this.node = outer.appendChild(document.createElement('div'));
    this.node.className = 'tl-kernel-bar';
    this.text = this.node.appendChild(document.createElement('span'));
    this.text.setAttribute('role', 'status');
    this.runButton = this.button('Run the cells above', () => this.runAbove());
    this.stopButton = this.button('Stop', () => this.stop());
    this.hideButton = this.button('Not now', () => this.dismiss());
    this.widget = new Widget({ node: outer });
    this.widget.hide();
    panel.contentHeader.addWidget(this.widget);
    // JupyterLab gives a header only its minimum height, but the text may take two lines.
    new ResizeObserver(() => {
      outer.style.minHeight = `${this.node.offsetHeight}px`;
      panel.contentHeader.processMessage(Widget.Msg.FitRequest);
    }).observe(this.node);
  }

  button(label, press) {
    const button = this.node.appendChild(document.createElement('button'));
    button.textContent = label;
    button.addEventListener('click', press);
    return button;
  }

  async watch() {
    const { context, sessionContext } = this.panel;
    await context.ready;
    sessionContext.kernelChanged.connect(() => void this.readHistory());
    sessionContext.statusChanged.connect((_, status) => {
      if (['restarting', 'autorestarting'].includes(status)) this.forget();
      else if (status === 'idle') this.update(); // queued cells may have been canceled
    });
    this.notebook.activeCellChanged.connect(() => this.update());
    this.notebook.model.cells.changed.connect(() => this.update());
    await sessionContext.ready;
    await this.readHistory();
  }

  get kernel() {
    return this.panel.sessionContext.session?.kernel;
  }

  /** Find out which cells a kernel has run, for example after the page was reloaded. */
  async readHistory() {
    const { kernel } = this;
    this.forget();
    this.isKnown = false;
    this.update();
    if (!kernel) return;
    const request = { code: '', silent: true, store_history: false, user_expressions: { history: HISTORY } };
    let reply;
    try {
      ({ history: reply } = (await kernel.requestExecute(request).done).content.user_expressions);
    } catch {
      return; // the kernel has ended
    }
    if (kernel !== this.kernel || this.panel.isDisposed || reply?.status !== 'ok') return;
    const bytes = Uint8Array.from(atob(reply.data['text/plain'].slice(1, -1)), letter => letter.charCodeAt(0));
    const history = new Set(JSON.parse(new TextDecoder().decode(bytes)));
    for (const cell of this.notebook.widgets) {
      if (cell.model.type === 'code' && history.has(sourceOf(cell).replace(/\n+$/, ''))) this.ran.add(cell.model.id);
    }
    this.isKnown = true;
    this.update();
  }

  /** Forget everything about the previous kernel. The new kernel has run no cells. */
  forget() {
    this.ran.clear();
    this.dismissed.clear();
    this.problem = '';
    this.isKnown = true;
    this.update();
  }

  wasRun(cell, success, error) {
    // A cell that raised a NameError must run again. A cell that raised another error does not get any further.
    if (success || (error && error.errorName !== 'NameError')) this.ran.add(cell.model.id);
    else this.ran.delete(cell.model.id);
    if (error?.errorName === 'NameError') void this.explain(cell, error.errorValue ?? '');
    this.update();
  }

  /** Return the cells before an index that the kernel has not run. */
  pending(before = this.notebook.activeCellIndex) {
    return this.notebook.widgets.slice(0, before).filter(cell => isRun(cell) && !this.ran.has(cell.model.id));
  }

  update() {
    if (this.panel.isDisposed || this.isRunning || isPressed) return;
    const isNews = cell => !isQueued(cell) && !this.dismissed.has(cell.model.id);
    const pending = this.isKnown ? this.pending().filter(isNews) : [];
    this.widget.setHidden(!pending.length || !this.kernel);
    if (!pending.length) return;
    const isNew = this.ran.size === 0;
    const cells = pending.length === 1 ? '1 cell above has' : `${pending.length} cells above have`;
    const state = isNew ? `This kernel is new: ${cells} not run yet.` : `${cells} not run in this kernel.`;
    this.say([this.problem || state, this.duration(pending)].filter(Boolean).join(' '));
    this.runButton.hidden = this.hideButton.hidden = false;
    this.runButton.textContent = this.problem ? 'Run the rest' : 'Run the cells above';
    this.stopButton.hidden = true;
  }

  say(text) {
    if (this.text.textContent !== text) this.text.textContent = text;
  }

  /** Describe how long the cells will take, based on the recorded times of their last runs. */
  duration(cells) {
    const seconds = cells.map(secondsOf);
    const known = seconds.filter(each => each !== null);
    const sum = known.reduce((total, each) => total + each, 0);
    const atMost = `A whole lesson takes at most about ${inWords(MAX_LESSON_SECONDS)} on an idle core.`;
    if (!known.length) return cells.length > 5 ? atMost : '';
    const others = known.length === cells.length ? '' : ` The other ${cells.length - known.length} have never run on this computer. ${atMost}`;
    const they = cells.length === 1 ? 'It' : 'They';
    if (sum < MIN_REPORTED_SECONDS) return others ? atMost : `${they} took a few seconds last time.`;
    const longest = seconds.indexOf(Math.max(...known));
    const place = placeOf(this.notebook, this.notebook.widgets.indexOf(cells[longest]));
    const share = seconds[longest] > sum / 2 && cells.length > 1 ? `, most of it in ${place}` : '';
    return `Last time ${they.toLowerCase()} took ${inWords(sum)}${share}.${others}`;
  }

  /** Run the pending cells before an index one by one. Continue if only an exercise fails. */
  async runAbove(before = this.notebook.activeCellIndex) {
    if (this.isRunning) return;
    const { notebook, panel } = this;
    const cells = this.pending(before);
    const active = notebook.activeCell;
    Object.assign(this, { isRunning: true, isStopped: false, problem: '' });
    this.runButton.hidden = this.hideButton.hidden = true;
    this.stopButton.hidden = false;
    this.widget.show();
    try {
      for (const [i, cell] of cells.entries()) {
        if (this.isStopped || cell.isDisposed || !this.kernel) break;
        const seconds = secondsOf(cell);
        const wait = seconds > MIN_REPORTED_SECONDS ? ` It took ${inWords(seconds)} last time.` : '';
        const place = placeOf(notebook, notebook.widgets.indexOf(cell));
        this.say(`Running ${i + 1} of ${cells.length}: ${place}.${wait}`);
        const success = await this.NotebookActions.runCells(notebook, [cell], panel.sessionContext);
        if (!success && !mayFail(cell)) {
          this.problem = this.isStopped ? '' : `The run stopped at an error in ${place}.`;
          break;
        }
      }
    } finally {
      this.isRunning = false;
    }
    if (panel.isDisposed) return;
    const place = notebook.widgets.indexOf(active);
    if (place >= 0) notebook.activeCellIndex = place;
    if (this.node.contains(document.activeElement)) notebook.activate();
    this.update();
  }

  stop() {
    this.isStopped = true;
    void this.kernel?.interrupt();
  }

  dismiss() {
    for (const cell of this.pending()) this.dismissed.add(cell.model.id);
    this.problem = '';
    this.notebook.activate();
    this.update();
  }

  show(id) {
    const place = this.notebook.widgets.findIndex(cell => cell.model.id === id);
    if (place >= 0) void goToCell(this.notebook, place);
  }

  /** Add a note below a NameError that names the cell above which defines the name. */
  async explain(cell, message) {
    const name = message.match(NAME_ERROR)?.[1];
    const here = this.notebook.widgets.indexOf(cell);
    const above = this.notebook.widgets.slice(0, here).filter(each => each.model.type === 'code');
    if (!name || !above.length) return;
    let place;
    try {
      ({ place } = await this.ask('defining-cell', { name, sources: above.map(sourceOf) }));
    } catch {
      return; // the error is displayed without the note
    }
    if (place === null || cell.isDisposed) return;
    const found = above[place];
    const where = placeOf(this.notebook, this.notebook.widgets.indexOf(found));
    const hasRun = this.ran.has(found.model.id) ? 'Run that cell again' : 'This kernel has not run that cell';
    cell.model.outputs.add({
      output_type: 'display_data',
      data: { 'text/html': note(name, where, hasRun, found.model.id), 'text/plain': `${name} is defined in ${where}.` },
      metadata: {},
    });
  }
}

/** Whether a cell may fail: unfinished exercises may, because the lesson uses the library's version instead. */
function mayFail(cell) {
  return cell.model.id.startsWith('check-') || ['exercise', 'bug-hunt'].some(tag => tagsOf(cell).includes(tag));
}

/** Return how long the last run of a cell took, as recorded by JupyterLab, or null if there is no record. */
function secondsOf(cell) {
  const timing = cell.model.getMetadata('execution') ?? {};
  const seconds = (Date.parse(timing['shell.execute_reply']) - Date.parse(timing['iopub.execute_input'])) / 1000;
  return Number.isFinite(seconds) ? seconds : null;
}

function inWords(seconds) {
  if (seconds < 60) return `${Math.max(1, Math.round(seconds))} s`;
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

function note(name, where, hasRun, id) {
  const escaped = text => text.replace(/[&<>"]/g, letter => `&#${letter.charCodeAt(0)};`);
  return (
    '<div style="color: inherit; border-left: 5px solid rgb(0, 114, 178); background: rgba(0, 114, 178, 0.12);' +
    ' padding: 0.6em 1em; margin: 0.3em 0; border-radius: 3px; max-width: 60em; line-height: 1.5">' +
    `<strong><code>${name}</code> is defined in ${escaped(where)}</strong>` +
    `<p style="margin: 0.3em 0 0 0">${hasRun}.</p>` +
    '<button class="tl-button-in-cell tl-run-above" hidden>Run the cells above</button> ' +
    `<button class="tl-button-in-cell tl-show-cell" hidden data-cell="${escaped(id)}">Show that cell</button></div>`
  );
}
