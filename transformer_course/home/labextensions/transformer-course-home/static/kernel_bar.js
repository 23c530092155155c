// The bar above a notebook whose kernel has not run all the cells above the active one, as after a restart or on the
// next day, with a button that runs them; and the note below a NameError, which says which cell defines the name.
import { goToCell, isRun, placeOf, sourceOf, tagsOf } from './cells.js';

/** Most seconds that all cells of a lesson take on one free core: a rule of the lessons. */
const SECONDS_OF_A_LESSON = 90;
/** Fewer seconds than this are not worth a word. */
const WORTH_TELLING_S = 5;
const NAME_ERROR = /name '(\w+)' is not defined/;
/** Asks the kernel which code it has run, in base64 as the answer is a Python literal. */
const HISTORY =
  '__import__("base64").b64encode(__import__("json").dumps([*get_ipython().history_manager.input_hist_raw]).encode()).decode()';

/** Whether a pointer is pressed. A bar that appears meanwhile would move away what is being clicked. */
let isPressed = false;

/**
 * @param lab JupyterLab's own classes, of which `NotebookActions` and `Widget` are used.
 * @param ask Asks the server.
 * @returns A function that watches a notebook from now on.
 */
export function makeKernelBars(lab, ask) {
  const bars = new Map();
  lab.NotebookActions.executed.connect((_, { notebook, cell, success, error }) => {
    bars.get(notebook)?.wasRun(cell, success, error);
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
    /** The cells, by id, that this kernel has run, and those of which the learner wants to hear no more. */
    this.ran = new Set();
    this.dismissed = new Set();
    /** Whether it is known what the kernel has run. */
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
    // JupyterLab gives a header no more height than its minimum, and the text may take two lines.
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
    sessionContext.kernelChanged.connect(() => void this.meet());
    sessionContext.statusChanged.connect((_, status) => {
      if (['restarting', 'autorestarting'].includes(status)) this.forget();
    });
    this.notebook.activeCellChanged.connect(() => this.update());
    this.notebook.model.cells.changed.connect(() => this.update());
    await sessionContext.ready;
    await this.meet();
  }

  get kernel() {
    return this.panel.sessionContext.session?.kernel;
  }

  /** A kernel has come that may have run cells before, as when the page was loaded again. */
  async meet() {
    const { kernel } = this;
    this.forget();
    this.isKnown = false;
    this.update();
    if (!kernel) return;
    const request = { code: '', silent: true, store_history: false, user_expressions: { asked: HISTORY } };
    let asked;
    try {
      ({ asked } = (await kernel.requestExecute(request).done).content.user_expressions);
    } catch {
      return; // the kernel has gone
    }
    if (kernel !== this.kernel || this.panel.isDisposed || asked?.status !== 'ok') return;
    const bytes = Uint8Array.from(atob(asked.data['text/plain'].slice(1, -1)), letter => letter.charCodeAt(0));
    const history = new Set(JSON.parse(new TextDecoder().decode(bytes)));
    for (const cell of this.notebook.widgets) {
      if (cell.model.type === 'code' && history.has(sourceOf(cell).replace(/\n+$/, ''))) this.ran.add(cell.model.id);
    }
    this.isKnown = true;
    this.update();
  }

  /** The kernel is a new one, which has run nothing. */
  forget() {
    this.ran.clear();
    this.dismissed.clear();
    this.problem = '';
    this.isKnown = true;
    this.update();
  }

  wasRun(cell, success, error) {
    // A cell that lacks a name has done nothing; one that raised another error is as far as it gets.
    if (success || (error && error.errorName !== 'NameError')) this.ran.add(cell.model.id);
    else this.ran.delete(cell.model.id);
    if (error?.errorName === 'NameError') void this.explain(cell, error.errorValue ?? '');
    this.update();
  }

  /** Return the cells above a place that the kernel has not run. */
  pending(before = this.notebook.activeCellIndex) {
    return this.notebook.widgets.slice(0, before).filter(cell => isRun(cell) && !this.ran.has(cell.model.id));
  }

  update() {
    if (this.panel.isDisposed || this.isRunning || isPressed) return;
    const pending = this.isKnown ? this.pending().filter(cell => !this.dismissed.has(cell.model.id)) : [];
    this.widget.setHidden(!pending.length || !this.kernel);
    if (!pending.length) return;
    const isNew = this.ran.size === 0;
    const cells = pending.length === 1 ? '1 cell above has' : `${pending.length} cells above have`;
    const state = isNew ? `The kernel is new: ${cells} not run in it.` : `${cells} not run in this kernel.`;
    this.say([this.problem || state, this.duration(pending)].filter(Boolean).join(' '));
    this.runButton.hidden = this.hideButton.hidden = false;
    this.runButton.textContent = this.problem ? 'Run the rest' : 'Run the cells above';
    this.stopButton.hidden = true;
  }

  say(text) {
    if (this.text.textContent !== text) this.text.textContent = text;
  }

  /** Return in a sentence how long the cells take: as long as the last time, as far as that is recorded. */
  duration(cells) {
    const seconds = cells.map(secondsOf);
    const known = seconds.filter(each => each !== null);
    const sum = known.reduce((total, each) => total + each, 0);
    const atMost = `A whole lesson takes at most about ${inWords(SECONDS_OF_A_LESSON)} on a free core.`;
    if (!known.length) return cells.length > 5 ? atMost : '';
    const others = known.length === cells.length ? '' : ` The other ${cells.length - known.length} have never run on this computer. ${atMost}`;
    const they = cells.length === 1 ? 'It' : 'They';
    if (sum < WORTH_TELLING_S) return others ? atMost : `${they} took a few seconds last time.`;
    const longest = seconds.indexOf(Math.max(...known));
    const place = placeOf(this.notebook, this.notebook.widgets.indexOf(cells[longest]));
    const share = seconds[longest] > sum / 2 && cells.length > 1 ? `, most of it in ${place}` : '';
    return `Last time ${they.toLowerCase()} took ${inWords(sum)}${share}.${others}`;
  }

  /** Run the cells above a place that have not run, one by one, and go on where only an exercise fails. */
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
        const wait = seconds > WORTH_TELLING_S ? ` It took ${inWords(seconds)} last time.` : '';
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

  /** Say below a NameError which cell above defines the name. */
  async explain(cell, message) {
    const name = message.match(NAME_ERROR)?.[1];
    const here = this.notebook.widgets.indexOf(cell);
    const above = this.notebook.widgets.slice(0, here).filter(each => each.model.type === 'code');
    if (!name || !above.length) return;
    let place;
    try {
      ({ place } = await this.ask('defining-cell', { name, sources: above.map(sourceOf) }));
    } catch {
      return; // the error is there without the note
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

/** An exercise that is half done may raise; the lesson goes on with the library's version. */
function mayFail(cell) {
  return cell.model.id.startsWith('check-') || ['exercise', 'bug-hunt'].some(tag => tagsOf(cell).includes(tag));
}

/** Return how long a cell took when it ran last, as JupyterLab has recorded it; null if it has not. */
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
