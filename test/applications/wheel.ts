/** A script in Python that writes a wheel of one module, `tool`. */
export const makeWheel: string = `
import zipfile
with zipfile.ZipFile("tool-1.0-py3-none-any.whl", "w") as wheel:
    wheel.writestr("tool.py", "answer = 42\\n")
    wheel.writestr("tool-1.0.dist-info/METADATA", "Metadata-Version: 2.1\\nName: tool\\nVersion: 1.0\\n")
    wheel.writestr("tool-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    wheel.writestr("tool-1.0.dist-info/RECORD", "tool.py,,\\ntool-1.0.dist-info/METADATA,,\\ntool-1.0.dist-info/WHEEL,,\\ntool-1.0.dist-info/RECORD,,\\n")
`;
