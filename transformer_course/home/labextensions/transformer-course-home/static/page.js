// The page: asks the server for it as long as it can be seen, and shows it when it is another than before.
const MILLISECONDS = 2000;
const LIST = 'tl-exercises';
const SEARCH = 'tl-exercise-search';

export class HomePage {
  /**
   * @param address Where the server has it.
   * @param isFileAsked Whether JupyterLab was opened at a file, so that the page stays behind it.
   */
  constructor(address, isFileAsked) {
    Object.assign(this, { address, isFileAsked });
    this.shown = null;
    this.timer = null;
    this.isAsking = false;
    this.ownModel = null;
    this.openFile = new Promise(resolve => (this.canOpen = resolve));
    this.node = document.createElement('div');
    this.node.className = 'tl-home';
    this.node.setAttribute('role', 'region');
    this.node.setAttribute('aria-label', 'Transformer Course home');
    this.body = this.node.appendChild(document.createElement('div'));
    this.status = this.node.appendChild(document.createElement('p'));
    this.status.className = 'tl-status';
    this.status.setAttribute('role', 'status');
    this.body.addEventListener('click', event => this.follow(event));
    this.body.addEventListener('input', event => event.target.id === SEARCH && this.search());
  }

  /** Show the page as it is now, and from now on. */
  start() {
    this.stop();
    this.timer = setInterval(() => document.hidden || this.update(), MILLISECONDS);
    this.update();
  }

  stop() {
    clearInterval(this.timer);
  }

  async update() {
    if (this.isAsking) return;
    this.isAsking = true;
    try {
      const answer = await fetch(this.address, { credentials: 'same-origin' });
      if (!answer.ok) throw new Error(`the server answers ${answer.status} ${answer.statusText}`);
      const html = await answer.text();
      const active = document.activeElement;
      this.show(html);
      await this.ownModel?.place(this.body.querySelector('#tl-own-model'));
      if (active !== document.activeElement && this.ownModel?.node.contains(active)) active.focus();
    } catch (error) {
      this.fail(error);
    } finally {
      this.isAsking = false;
    }
  }

  /** Put a page in the place of the one before, unless it is the same; focus, list and search stay as they were. */
  show(html) {
    if (html === this.shown) return;
    const focused = this.body.contains(document.activeElement) ? document.activeElement.id : '';
    const before = this.total();
    const isListOpen = this.find(LIST)?.open ?? false;
    const searched = this.find(SEARCH)?.value ?? '';
    this.body.innerHTML = html;
    this.shown = html;
    if (isListOpen) this.find(LIST).open = true;
    if (searched) this.find(SEARCH).value = searched;
    if (searched) this.search();
    if (focused) document.getElementById(focused)?.focus();
    this.status.textContent = before && before !== this.total() ? this.total() : '';
  }

  /** Say that the page cannot be read; what was shown before stays. */
  fail(error) {
    const said = `The home page cannot be read: ${error.message}.`;
    if (this.status.textContent !== said) this.status.textContent = said;
    this.shown = null;
  }

  find(id) {
    return this.body.querySelector(`#${id}`);
  }

  /** Leave in the list of exercises those that have all the words typed, and the lessons that have any. */
  search() {
    const words = this.find(SEARCH).value.toLowerCase().split(/\s+/);
    const rows = [...this.find(LIST).querySelectorAll('[data-search]')];
    for (const row of rows) row.hidden = !words.every(word => row.dataset.search.includes(word));
    for (const lesson of this.find(LIST).querySelectorAll('tbody')) {
      lesson.hidden = !lesson.querySelector('[data-search]:not([hidden])');
    }
    const left = rows.filter(row => !row.hidden).length;
    this.find('tl-exercise-count').textContent = words.join('') ? `${left} of ${rows.length}` : '';
  }

  total() {
    return this.body.querySelector('#tl-total')?.textContent ?? '';
  }

  /**
   * Work with JupyterLab from now on.
   *
   * @param openFile Called with the path of a file to open, and the cell to open it at, if one is named.
   * @param ownModel What shows the learner's own model, if the page has a place for it.
   * @param ask Asks the server.
   */
  join(openFile, ownModel, ask) {
    Object.assign(this, { ownModel, ask });
    this.canOpen(openFile);
  }

  async follow(event) {
    const button = event.target.closest('button[data-practice]');
    if (button) return this.practice(button);
    const link = event.target.closest('a[data-path]');
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const { path, cell } = link.dataset;
    if (!this.ownModel) this.status.textContent = 'JupyterLab is starting; then this opens.';
    const openFile = await this.openFile;
    this.status.textContent = '';
    openFile(path, cell);
  }

  /** Let the server write a practice notebook, and open it. */
  async practice(button) {
    button.disabled = true;
    try {
      if (!this.ownModel) this.status.textContent = 'JupyterLab is starting; then your practice opens.';
      const openFile = await this.openFile;
      const { path } = await this.ask('practice', { interview: button.dataset.practice === 'interview' });
      this.status.textContent = '';
      openFile(path);
    } catch (error) {
      this.status.textContent = `The practice notebook cannot be written: ${error.message}.`;
    } finally {
      button.disabled = false;
    }
  }
}
