{{/*
What the kubelet does to Postern's container when its pod ends. It signals a native sidecar only after the containers of
the service have ended, when clients have long been told 502; but every `preStop` hook runs at once. So this one starts
the drain, by the signal to process 1 of the container, and goes on until the management port closes, at the end of it:
the signal of the kubelet, which follows the hook, would be the second one and cut off what is in flight.
*/}}
{{- define "postern.lifecycle" -}}
{{- if .Values.lifecycle -}}
{{- toYaml .Values.lifecycle -}}
{{- else if and (eq .Values.mode "sidecar") .Values.sidecar.native -}}
preStop:
  exec:
    command:
      - node
      - -e
      - |
        process.kill(1);
        const wait = () => require('net').connect({{ int .Values.config.management.port }}).on('error', () => process.exit()).on('close', wait).resume();
        wait();
{{- end -}}
{{- end -}}
