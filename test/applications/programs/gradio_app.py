"""An application that gives back a file under the name that it came with: `gradio_app.py PORT`."""

import sys

import gradio

with gradio.Blocks() as app:
    given = gradio.File(label="given", elem_id="given")
    back = gradio.File(label="back", elem_id="back")
    given.upload(lambda file: file, inputs=given, outputs=back, api_name="back")
    text = gradio.Textbox(visible=False)
    text.submit(lambda words: words.upper(), inputs=text, outputs=text, api_name="shout")

app.launch(server_name="127.0.0.1", server_port=int(sys.argv[1]), quiet=True)
