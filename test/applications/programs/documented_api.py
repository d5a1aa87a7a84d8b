"""An API with a login of its own, and Swagger UI for it: `documented_api.py PORT FOLDER_OF_SWAGGER_UI`."""

import sys

import uvicorn
from fastapi import Depends, FastAPI, HTTPException
from fastapi.openapi.docs import get_swagger_ui_html
from fastapi.security import APIKeyHeader, HTTPBearer
from fastapi.staticfiles import StaticFiles

port, assets = sys.argv[1:]
app = FastAPI(docs_url=None)
app.mount("/assets", StaticFiles(directory=assets))
bearer = HTTPBearer()
api_key = APIKeyHeader(name="X-API-Key")


@app.get("/docs", include_in_schema=False)
def docs():
    return get_swagger_ui_html(
        openapi_url="/openapi.json",
        title="docs",
        swagger_js_url="/assets/swagger-ui-bundle.js",
        swagger_css_url="/assets/swagger-ui.css",
    )


@app.post("/api/login")
def login():
    return {"token": "token-of-the-application"}


@app.get("/api/items", operation_id="items")
def items(credentials=Depends(bearer)):
    if credentials.credentials != "token-of-the-application":
        raise HTTPException(401)
    return ["tea"]


@app.get("/api/more", operation_id="more")
def more(key=Depends(api_key)):
    if key != "key-of-the-application":
        raise HTTPException(401)
    return ["coffee"]


uvicorn.run(app, host="127.0.0.1", port=int(port), log_level="warning")
