# The course in JupyterLab, with its home page and hints. Binder and the dev container use this image, too.
# docker build -t transformer-course . && docker run -p 8888:8888 transformer-course
FROM python:3.12-slim
RUN pip install --no-cache-dir "uv>=0.8,<1" && useradd --create-home --home-dir /learner --uid 1000 learner
COPY . /opt/course
RUN cd /opt/course && uv pip install --system --no-cache --torch-backend cpu -c constraints.txt .
# Binder starts JupyterLab by one of these names; in this image, both start the course.
RUN printf '#!/bin/sh\nexec transformer-course lab --no-browser "$@"\n' \
    | tee /usr/local/bin/jupyter-lab > /usr/local/bin/jupyter-notebook && chmod +x /usr/local/bin/jupyter-*
USER learner
WORKDIR /learner
RUN mkdir my-lessons
EXPOSE 8888
CMD ["transformer-course", "lab", "--no-browser", "--ip=0.0.0.0"]
