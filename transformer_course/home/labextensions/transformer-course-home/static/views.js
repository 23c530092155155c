// A notebook is saved with the pictures of its views (saved_views.py). When it is opened again while its kernel still
// runs, as after the page was loaded anew, each picture gives way to its view, which is as it was.
const WIDGET = 'application/vnd.jupyter.widget-view+json';
const VIEW = 'transformer-course-view';

/** Show the views of a notebook that its kernel still has; where it has none, the pictures stay. */
export async function bringBackViews(panel) {
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
  context.model.dirty = dirty; // nothing has changed that is saved
}

function outputs(notebook) {
  const lists = [...notebook.cells].filter(cell => cell.type === 'code').map(cell => cell.outputs);
  return lists.flatMap(list => Array.from({ length: list.length }, (_, i) => list.get(i)));
}
