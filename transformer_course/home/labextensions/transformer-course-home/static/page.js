// The home page. It requests its content from the server as long as it is visible, and redraws it when it has changed.
const UPDATE_MILLISECONDS = 2000;
const LIST = 'tl-exercises';
const SEARCH = 'tl-exercise-search';

export class HomePage {
  /**
   * @param address The URL of the page's content.
   * @param isFileRequested Whether JupyterLab was opened with a file, so that the page stays in the background.
   */
  constructor(address, isFileRequested) {
    Object.assign(this, { address, isFileRequested });
    this.shown = null;
    this.timer = null;
    this.isUpdating = false;
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

  /** Show the current page and start updating it. */
  start() {
    this.stop();
    this.timer = setInterval(() => document.hidden || this.update(), UPDATE_MILLISECONDS);
    this.update();
  }

  stop() {
    clearInterval(this.timer);
  }

  async update() {
    if (this.isUpdating) return;
    this.isUpdating = true;
    try {
      const answer = await fetch(this.address, { credentials: 'same-origin' });
      if (!answer.ok) throw new Error(`the server responded with ${answer.status} ${answer.statusText}`);
      const html = await answer.text();
      const active = document.activeElement;
      this.show(html);
      await this.ownModel?.place(this.body.querySelector('#tl-own-model'));
      if (active !== document.activeElement && this.ownModel?.node.contains(active)) active.focus();
    } catch (error) {
      this.fail(error);
    } finally {
      this.isUpdating = false;
    }
  }

  /** Replace the content of the page if it has changed. The focus, the open list and the search are preserved. */
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

  /** Show an error message below the previous content. */
  fail(error) {
    const message = `The home page could not be loaded: ${error.message}.`;
    if (this.status.textContent !== message) this.status.textContent = message;
    this.shown = null;
  }

  find(id) {
    return this.body.querySelector(`#${id}`);
  }

  /** Show only the exercises that match all words of the search, and only lessons with a match. */
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
   * Connect the page to JupyterLab, which has finished loading.
   *
   * @param openFile Function that opens a file, given its path and optionally the id of a cell.
   * @param ownModel Shows the learner's own model if the page has an element for it.
   * @param ask Function that sends a question to the server.
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
    if (!this.ownModel) this.status.textContent = 'JupyterLab is starting. This page will open when it is ready.';
    const openFile = await this.openFile;
    this.status.textContent = '';
    openFile(path, cell);
  }

  /** Request a practice notebook from the server, and open it. */
  async practice(button) {
    button.disabled = true;
    try {
      if (!this.ownModel) this.status.textContent = 'JupyterLab is starting. Your practice notebook will open when it is ready.';
      const openFile = await this.openFile;
      const { path } = await this.ask('practice', { interview: button.dataset.practice === 'interview' });
      this.status.textContent = '';
      openFile(path);
    } catch (error) {
      this.status.textContent = `The practice notebook could not be written: ${error.message}.`;
    } finally {
      button.disabled = false;
    }
  }
}
