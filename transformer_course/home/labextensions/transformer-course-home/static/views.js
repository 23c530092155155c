// A notebook is saved with pictures of its views (saved_views.py). If it is opened again while its kernel is still
// running, for example after a reload of the page, each picture is replaced by its view.
const WIDGET = 'application/vnd.jupyter.widget-view+json';
const VIEW = 'transformer-course-view';

/** Restore the views of a notebook that still exist in its kernel. The other pictures stay. */
export async function restoreViews(panel) {
  const { context, sessionContext } = panel;
  await Promise.all([context.ready, sessionContext.ready]);
  const pictures = outputs(context.model).filter(output => VIEW in output.metadata && !(WIDGET in output.data));
  const kernel = sessionContext.session?.kernel;
  if (!pictures.length || !kernel) return;
  const { content } = await kernel.requestCommInfo({ target_name: 'jupyter.widget' });
  const { dirty } = context.model;
  for (const picture of pictures) {
    const model_id = picture.metadata[VIEW];
    if (!(model_id in (content.comms ?? {}))) continue;
    const view = { model_id, version_major: 2, version_minor: 0 };
    picture.setData({ data: { ...picture.data, [WIDGET]: view }, metadata: picture.metadata });
  }
  context.model.dirty = dirty; // these changes are not saved
}

function outputs(notebook) {
  const lists = [...notebook.cells].filter(cell => cell.type === 'code').map(cell => cell.outputs);
  return lists.flatMap(list => Array.from({ length: list.length }, (_, i) => list.get(i)));
}
